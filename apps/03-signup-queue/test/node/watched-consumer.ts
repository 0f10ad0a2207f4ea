import { observe } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";
import consumer from "../../src/consumer.ts";
import type { Delivery } from "./workers.ts";

/** The lesson's consumer, that notes which messages of each batch it acked, and which come again. */
export default {
  ...consumer,
  async queue(batch, env) {
    const marks = new Map<string, "acked" | "retried">();
    const messages = batch.messages.map((message): Message => {
      const { id, body, timestamp, attempts } = message;
      const mark = (what: "acked" | "retried") => {
        if (!marks.has(id)) marks.set(id, what);
      };
      return {
        id,
        body,
        timestamp,
        attempts,
        ack() {
          mark("acked");
          message.ack();
        },
        retry(options) {
          mark("retried");
          message.retry(options);
        },
      };
    });
    const { queue, metadata } = batch;
    const ackAll = () => batch.ackAll();
    await consumer.queue({ queue, metadata, messages, ackAll, retryAll: ackAll }, env);
    const marked = (what: string) => messages.filter(({ id }) => marks.get(id) === what);
    const detail: Delivery = {
      size: messages.length,
      acked: marked("acked").map(({ id }) => id),
      retried: marked("retried").map(({ id }) => id),
      signups: marked("acked").flatMap(({ body }) => {
        const signup = v.safeParse(signupMessage, body);
        return signup.success ? signup.output.id : [];
      }),
    };
    await observe(env.WORLD, "test", [{ kind: queue, detail }]);
  },
} satisfies ExportedHandler<ConsumerEnv>;
