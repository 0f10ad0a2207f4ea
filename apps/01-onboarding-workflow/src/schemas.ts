import { body, emailAddress, identifier } from "@durable-lessons/types/fields";
import * as v from "valibot";

/** Body of `POST /onboard`, message of the queue `onboarding-requests`, params of the onboarding Workflow. */
export const onboardingRequest = body({
  userId: identifier("userId"),
  email: emailAddress("email"),
  planType: v.picklist(["free", "pro"], 'planType must be "free" or "pro"'),
});

/** A new user, validated: see {@link onboardingRequest}. */
export type OnboardingRequest = v.InferOutput<typeof onboardingRequest>;
