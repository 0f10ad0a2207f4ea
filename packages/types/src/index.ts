export { type DraftRequest, draftRequest, draftReview, MAX_PROMPT_LENGTH } from "./drafts.ts";
export { type EtlRun, etlRun, isDay } from "./etl.ts";
export {
  body,
  emailAddress,
  identifier,
  MAX_EMAIL_LENGTH,
  MAX_IDENTIFIER_LENGTH,
} from "./fields.ts";
export {
  type FulfilmentOrder,
  fulfilmentOrder,
  fulfilmentOrderBatch,
  MAX_BATCH_BYTES,
  MAX_ORDERS,
} from "./fulfilment.ts";
export { EFFECTS, type EffectKind, EVENTS, QUEUES } from "./names.ts";
export { type DailyReportParams, onboardingRequest, type OnboardingRequest } from "./onboarding.ts";
export {
  MAX_ORDER_LINES,
  MAX_QUANTITY,
  orderRequest,
  type OrderRequest,
  orderRestart,
  orderReview,
  type OrderReview,
} from "./orders.ts";
export {
  MAX_NAME_LENGTH,
  signupMessage,
  type SignupMessage,
  signupRequest,
  type SignupRequest,
} from "./signups.ts";
