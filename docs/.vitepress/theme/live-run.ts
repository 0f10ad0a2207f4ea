import { reactive, readonly } from "vue";
import type { StreamedProgress } from "../lab/lab-server.ts";
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

  const post = (action: string, body: unknown, signal: AbortSignal) =>
    fetch(`${lab}${action}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
  const fail = (error: unknown, signal: AbortSignal) => {
    if (!signal.aborted) applyProgress(state, { type: "failed", message: messageOf(error) });
  };

  async function start(): Promise<void> {
    leaving.abort();
    leaving = new AbortController();
    const { signal } = leaving;
    Object.assign(state, newPairRun("starting"));
    try {
      const response = await post("run", { pair: name }, signal);
      if (!response.ok || !response.body) throw new Error(await errorOf(response));
      for await (const progress of lines(response.body)) applyProgress(state, progress);
      if (state.phase !== "ended" && state.phase !== "failed") {
        throw new Error("The connection to the dev server was lost.");
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
      const response = await post("crash", { lesson: name.split("/")[0] }, signal);
      if (!response.ok) throw new Error(await errorOf(response));
    } catch (error) {
      fail(error, signal);
    }
  }

  return { state: readonly(state) as PairRun, start, kill, leave: () => leaving.abort() };
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamedProgress> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) if (line !== "") yield JSON.parse(line);
    }
  } finally {
    reader.releaseLock();
  }
}

async function errorOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const body: { error?: string } = JSON.parse(text);
    return body.error ?? text;
  } catch {
    return text;
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
