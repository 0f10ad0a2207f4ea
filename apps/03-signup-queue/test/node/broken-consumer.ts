import { observe } from "@durable-lessons/outside-world";
import { QUEUES } from "../../src/queues.ts";

/** A consumer of dead letters that a deploy has broken: it throws before it can catch anything. Of the queue behind it it notes. */
export default {
  async queue(batch, env) {
    if (batch.queue !== QUEUES.signupsUnread) throw new Error("broken by a deploy");
    const unread = batch.messages.map(({ body }) => ({ kind: "unread", detail: body }));
    await observe(env.WORLD, "test", unread);
  },
} satisfies ExportedHandler<ConsumerEnv>;
