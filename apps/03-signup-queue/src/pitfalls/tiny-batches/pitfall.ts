// wrangler.lab.jsonc, queue lab-tiny-pitfall: "max_batch_size": 1
export { consume } from "./consumer.ts";
