/** Finds the instance that has this id, of a user or of a day, or null. */
export async function findInstance(env: Env, id: string): Promise<WorkflowInstance | null> {
  const workflow = id.startsWith("daily-") ? env.DAILY_REPORT : env.ONBOARDING;
  try {
    return await workflow.get(id);
  } catch (error) {
    // The platform names its reason in the message. Anything else is no "there is none".
    if (error instanceof Error && /instance\.(not_found|invalid_id)/.test(error.message))
      return null;
    throw error;
  }
}
