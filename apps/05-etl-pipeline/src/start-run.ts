import { createInstanceOnce, instanceIdFor } from "@durable-lessons/idempotency";
import { findRun, insertRun } from "./runs.ts";

/** Starts the run of a day, once, whoever asks: the night, or an administrator. */
export async function startRun(env: Env, day: string) {
  const id = await instanceIdFor("etl", day);
  const isNew = await insertRun(env.DB, day, id);
  const row = await findRun(env.DB, day);
  // Also for a known row: the first request may have died between the row and the instance. A day that is complete is
  // not loaded again when the platform has forgotten its instance.
  if (row?.state !== "complete") await createInstanceOnce(env.ETL, { id, params: { day } });
  return { instanceId: id, isNew };
}

/** Runs a day once more, for files that were corrected or late; or says why not. */
export async function restartRun(env: Env, day: string): Promise<string | null> {
  const id = await instanceIdFor("etl", day);
  const { instance, created } = await createInstanceOnce(env.ETL, { id, params: { day } });
  if (created) return null;
  const { status } = await instance.status();
  if (!["complete", "errored", "terminated"].includes(status)) {
    return `The run of ${day} is ${status}: wait for its end.`;
  }
  await instance.restart();
  return null;
}
