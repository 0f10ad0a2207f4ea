export {
  body,
  emailAddress,
  identifier,
  MAX_EMAIL_LENGTH,
  MAX_IDENTIFIER_LENGTH,
} from "./fields.ts";
export { EFFECTS, type EffectKind, EVENTS, QUEUES } from "./names.ts";
export { type DailyReportParams, onboardingRequest, type OnboardingRequest } from "./onboarding.ts";
