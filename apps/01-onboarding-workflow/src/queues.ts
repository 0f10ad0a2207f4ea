/** The lesson's queues. `wrangler.jsonc` repeats the names, and a test compares the two. */
export const QUEUES = {
  onboardingRequests: "onboarding-requests",
  onboardingRequestsDeadLetters: "onboarding-requests-dlq",
} as const;
