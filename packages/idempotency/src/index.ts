export { backoffSeconds, type BackoffOptions } from "./backoff.ts";
export {
  claim,
  DEFAULT_RETENTION_MS,
  type Claim,
  type ClaimOptions,
  type KeepOptions,
  type KeyToClaim,
} from "./claim.ts";
export { complete, completeStatement, type Completion } from "./complete.ts";
export { consumeOnce } from "./consume-once.ts";
export type { ConsumeOnceOptions } from "./consume-options.ts";
export type { ConsumerTimes } from "./consumer-times.ts";
export type { MessageOutcome } from "./consume-stages.ts";
export { createInstanceOnce, type StartedInstance } from "./create-instance-once.ts";
export { createInstancesOnce, type InstanceOutcome } from "./create-instances-once.ts";
export {
  FingerprintConflictError,
  InDoubtError,
  InProgressError,
  isLeaseLost,
  LeaseLostError,
  NothingHappenedError,
  PermanentError,
} from "./errors.ts";
export { instanceIdFor } from "./instance-id.ts";
export type { Json } from "./json.ts";
export { fingerprintOf, fingerprintOfBody, keyFor, MAX_KEY_LENGTH } from "./key.ts";
export type { Database, EffectContext, Lease, StoreOptions } from "./lease.ts";
export { once, type OnceOptions, type OnceOutcome } from "./once.ts";
export { queueSettings, type QueueSettings } from "./queue-settings.ts";
export { forget, get, type KeyRecord } from "./record.ts";
export { release, type Release } from "./release.ts";
export { renew, type Timer } from "./renew.ts";
export { stepKey } from "./step-key.ts";
export { MAX_KEYS } from "./statement.ts";
export { sweep } from "./sweep.ts";
