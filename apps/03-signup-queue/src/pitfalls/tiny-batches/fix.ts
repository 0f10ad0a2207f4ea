// wrangler.lab.jsonc, queue lab-tiny-fix: "max_batch_size": 10
export { consume } from "./consumer.ts";
