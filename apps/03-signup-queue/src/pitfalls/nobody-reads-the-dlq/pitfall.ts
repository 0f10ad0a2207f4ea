// The config names a dead letter queue, and that is all.
export { consume } from "./consumer.ts";
