import { createInstanceOnce, instanceIdFor } from "@durable-lessons/idempotency";
import { findInstance } from "@durable-lessons/worker-helpers/instances";
import { findRun, insertRun } from "./runs.ts";

/** The result of a request for a run. An obstacle says why there is none, and what to do. */
export interface Started {
  instanceId: string;
  isNew: boolean;
  obstacle: string | null;
}

/** Starts the run of a day, once, whoever asks: the night, or an administrator. */
export async function startRun(env: Env, day: string): Promise<Started> {
  const id = await instanceIdFor("etl", day);
  const isNew = await insertRun(env.DB, day, id);
  const row = await findRun(env.DB, day);
  const started = (obstacle: string | null) => ({ instanceId: id, isNew, obstacle });
  // A day that is complete is not loaded again when the platform has forgotten its instance.
  if (row?.state === "complete") return started(null);

  const instance = await findInstance(env.ETL, id);
  const { status } = (await instance?.status()) ?? {};
  const isOver = status === "errored" || status === "terminated";
  if (isOver || (!instance && row?.reason)) {
    const why = row?.reason ?? `it was ${status}`;
    return started(
      `The run of ${day} has failed: ${why}. POST /runs/${day}/restart runs it again.`,
    );
  }
  if (status === "paused" || status === "waitingForPause") return started(pausedText(day, id));
  // Also for a known row: the first request may have died between the row and the instance.
  if (!instance) await createInstanceOnce(env.ETL, { id, params: { day } });
  return started(null);
}

/** Runs a day once more, for files that were corrected or late, or after it has failed; or says why not. */
export async function restartRun(env: Env, day: string): Promise<string | null> {
  const id = await instanceIdFor("etl", day);
  const { instance, created } = await createInstanceOnce(env.ETL, { id, params: { day } });
  if (created) return null;
  const { status } = await instance.status();
  if (status === "paused" || status === "waitingForPause") return pausedText(day, id);
  if (!["complete", "errored", "terminated"].includes(status)) {
    return `The run of ${day} is ${status}: wait for its end.`;
  }
  await instance.restart();
  return null;
}

const pausedText = (day: string, id: string) =>
  `The run of ${day} is paused. It goes on with: wrangler workflows instances resume etl ${id}`;
