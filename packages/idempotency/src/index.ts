export { backoffSeconds, type BackoffOptions } from "./backoff.ts";
export { claim, type Claim, type KeyToClaim } from "./claim.ts";
export { complete, completeStatement, type Completion } from "./complete.ts";
export { consumeOnce } from "./consume-once.ts";
export type { ConsumeOnceOptions, HandlerContext } from "./consume-options.ts";
export type { MessageOutcome } from "./consume-stages.ts";
export { createInstancesOnce, type InstanceOutcome } from "./create-instances-once.ts";
export {
  FingerprintConflictError,
  InProgressError,
  isLeaseLost,
  LeaseLostError,
  PermanentError,
} from "./errors.ts";
export { instanceIdFor } from "./instance-id.ts";
export type { Json } from "./json.ts";
export { fingerprintOf, keyFor, MAX_KEY_LENGTH } from "./key.ts";
export { MAX_KEYS, type ClockOptions, type Database, type Lease } from "./lease.ts";
export { once, type OnceOptions } from "./once.ts";
export { release } from "./release.ts";
export { stepKey } from "./step-key.ts";
export { sweep } from "./sweep.ts";
export { createInstanceOnce, type StartedInstance } from "./create-instance-once.ts";
