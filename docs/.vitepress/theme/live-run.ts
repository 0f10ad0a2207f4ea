import { reactive, readonly } from "vue";
import type { StreamedProgress } from "../lab/lab-server.ts";
import { errorOf, lines, LOST, messageOf, post } from "./lab-client.ts";
import { applyProgress, newPairRun, type PairRun } from "./run-state.ts";

/** A pair that the reader can run: its state, and what the buttons do. */
export interface LiveRun {
  readonly state: PairRun;
  /** Runs both variants; resolves when they have ended. */
  start: () => Promise<void>;
  /** Kills the runtime of the pair's lesson. */
  kill: () => Promise<void>;
  /** Gives the runs up. */
  leave: () => void;
}

/**
 * Runs a pair through the dev server.
 *
 * @param lab the URL of the lab, ending with a slash
 * @param name `01/double-submit`
 */
export function liveRun(lab: string, name: string): LiveRun {
  const state = reactive(newPairRun());
  let leaving = new AbortController();

  const fail = (error: unknown, signal: AbortSignal) => {
    if (!signal.aborted) applyProgress(state, { type: "failed", message: messageOf(error) });
  };

  async function start(): Promise<void> {
    leaving.abort();
    leaving = new AbortController();
    const { signal } = leaving;
    Object.assign(state, newPairRun("starting"));
    try {
      const response = await post(lab, "run", { pair: name }, signal);
      if (!response.ok || !response.body) throw new Error(await errorOf(response));
      for await (const progress of lines<StreamedProgress>(response.body)) {
        applyProgress(state, progress);
      }
      if (state.phase !== "ended" && state.phase !== "failed") {
        throw new Error(LOST);
      }
    } catch (error) {
      fail(error, signal);
    }
  }

  async function kill(): Promise<void> {
    const { signal } = leaving;
    // At once, so that nobody presses twice.
    state.phase = "killing";
    try {
      const response = await post(lab, "crash", { lesson: name.split("/")[0] }, signal);
      if (!response.ok) throw new Error(await errorOf(response));
    } catch (error) {
      fail(error, signal);
    }
  }

  return { state: readonly(state) as PairRun, start, kill, leave: () => leaving.abort() };
}
