// The batch size of this queue is 10: see pair.ts.
export { consume } from "./consumer.ts";
