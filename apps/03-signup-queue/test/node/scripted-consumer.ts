import { observe } from "@durable-lessons/outside-world";

/** What a message says is to be done about it, and about the batch that it is in. */
export interface Scripted {
  name: string;
  /** In this order. */
  marks?: ("ack" | "retry")[];
  batch?: "retryAll" | "throw";
}

/** A consumer that does what its messages say, and notes each delivery of each of them. */
export default {
  async queue(batch, env) {
    await observe(
      env.WORLD,
      "test",
      batch.messages.map(({ body: { name }, attempts }) => ({
        kind: batch.queue,
        detail: { name, attempts },
      })),
    );
    if (batch.queue === "dead") return;
    for (const message of batch.messages) {
      for (const mark of message.body.marks ?? []) message[mark]();
    }
    const asked = new Set(batch.messages.map(({ body }) => body.batch));
    if (asked.has("retryAll")) batch.retryAll();
    if (asked.has("throw")) throw new Error("[simulated] this batch fails");
  },
} satisfies ExportedHandler<{ WORLD: D1Database }, Scripted>;
