// The batch size of this queue is 1: see pair.ts.
export { consume } from "./consumer.ts";
