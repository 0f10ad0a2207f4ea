export type { Mark } from "./mark.ts";
export { EFFECTS, type EffectKind, WAKE_EVENT } from "./names.ts";
export {
  MAX_NAME_LENGTH,
  signupMessage,
  type SignupMessage,
  signupRequest,
  type SignupRequest,
} from "./signups.ts";
