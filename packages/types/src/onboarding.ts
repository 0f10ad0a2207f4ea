import * as v from "valibot";
import { body, emailAddress, identifier } from "./fields.ts";

/** Body of `POST /onboard`, message of the queue `onboarding-requests`, params of the onboarding Workflow. */
export const onboardingRequest = body({
  userId: identifier("userId"),
  email: emailAddress("email"),
  planType: v.picklist(["free", "pro"], 'planType must be "free" or "pro"'),
});

/** A new user, validated: see {@link onboardingRequest}. */
export type OnboardingRequest = v.InferOutput<typeof onboardingRequest>;

/** Params of the daily report: the scheduled time of the cron that starts it, in milliseconds since the epoch. */
export type DailyReportParams = { scheduledTime: number };
