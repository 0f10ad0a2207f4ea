import { reactive, readonly } from "vue";
import type { StreamedGauntlet } from "../lab/lab-server.ts";
import type { Grid } from "./gauntlet.ts";
import { errorOf, lines, LOST, messageOf, post } from "./lab-client.ts";

/** Where a gauntlet stands that a reader has started. */
export type GauntletPhase = "ended" | "failed" | "idle" | "running" | "starting" | "stopped";

/** A pair's gauntlet, as far as it has come. */
export interface GauntletState {
  phase: GauntletPhase;
  /** How many trials are known so far, and how many of them have ended. The first of them say which others there are. */
  planned: number;
  ended: number;
  /** What came of it, once all have ended. */
  grid: Grid | null;
  error: string | null;
}

/** A gauntlet that the reader can run. */
export interface LiveGauntlet {
  readonly state: GauntletState;
  /** Takes both sides through all trials; resolves when they have ended. */
  start: () => Promise<void>;
  /** Gives it up; the lab ends its runtime. */
  stop: () => void;
}

/** A gauntlet of which nothing has happened yet. */
export const newGauntlet = (phase: GauntletPhase = "idle"): GauntletState => ({
  phase,
  planned: 0,
  ended: 0,
  grid: null,
  error: null,
});

/** Changes the state of a gauntlet as its progress says. */
export function applyGauntlet(state: GauntletState, progress: StreamedGauntlet): void {
  switch (progress.type) {
    case "starting":
      // Each side undisturbed, first.
      state.planned = progress.variants;
      return;
    case "trials":
      state.planned += progress.count;
      return;
    case "trial-ended":
      state.ended += 1;
      state.phase = "running";
      return;
    case "judged":
      state.grid = progress.grid;
      state.phase = "ended";
      return;
    case "failed":
      state.error = progress.message;
      state.phase = "failed";
  }
}

/**
 * Takes a pair through the gauntlet, in a runtime of its own behind the dev server.
 *
 * @param lab the URL of the lab, ending with a slash
 * @param name `01/double-submit`
 */
export function liveGauntlet(lab: string, name: string): LiveGauntlet {
  const state = reactive(newGauntlet());
  let leaving = new AbortController();

  async function start(): Promise<void> {
    leaving.abort();
    leaving = new AbortController();
    const { signal } = leaving;
    Object.assign(state, newGauntlet("starting"));
    try {
      const response = await post(lab, "gauntlet", { pair: name }, signal);
      if (!response.ok || !response.body) throw new Error(await errorOf(response));
      for await (const progress of lines<StreamedGauntlet>(response.body)) {
        applyGauntlet(state, progress);
      }
      if (state.phase !== "ended" && state.phase !== "failed") throw new Error(LOST);
    } catch (error) {
      if (!signal.aborted) applyGauntlet(state, { type: "failed", message: messageOf(error) });
    }
  }

  function stop(): void {
    leaving.abort();
    state.phase = "stopped";
  }

  return { state: readonly(state) as GauntletState, start, stop };
}
