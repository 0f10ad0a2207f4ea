import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { Runtime } from "@durable-lessons/crash-test";
import {
  callsOf,
  effectsOf,
  forgetHangs,
  hangingCalls,
  scriptFaults,
} from "@durable-lessons/outside-world";
import { WAKE_EVENT } from "@durable-lessons/types";
import type { Flow, LessonFlows, RunningLesson } from "../flow.ts";
import { judgeFlow, type TrialRun } from "../judge.ts";
import { isOver } from "../pair.ts";
import { flowTrialsOf, type Trial, YES } from "../trials.ts";
import { unlessAborted } from "./channel.ts";
import { quickWorkers } from "./lab-worker.ts";
import { inPhases, type Tried } from "./phases.ts";
import { type LessonFolder, mtimeOf } from "./read-lesson.ts";
import { Turns } from "./turns.ts";

/** How many flows work at once. */
const AT_ONCE = 16;
/** How often it is looked how a flow stands. */
const LOOK_MS = 250;

/** The flows that a lesson names in its `gauntlet.ts`; null where it has none. */
export async function readFlows({ dir }: LessonFolder): Promise<LessonFlows | null> {
  const file = join(dir, "gauntlet.ts");
  if ((await mtimeOf(file)) === null) return null;
  const { default: flows }: { default: LessonFlows } = await import(pathToFileURL(file).href);
  return flows;
}

/**
 * Takes the flows of a lesson through their trials, on a runtime of its own: the Workers as they are deployed but for their
 * times. One crash for all.
 *
 * @param tell is called when a trial has ended
 */
export async function tryFlows(
  { dir }: LessonFolder,
  { vars = {}, flows }: LessonFlows,
  { signal, runTimeoutMs }: { signal: AbortSignal; runTimeoutMs: number },
  tell: (what: { flow: string; trial: string }) => void,
): Promise<Tried<Flow>[]> {
  const runtime = await Runtime.start({ root: dir, workers: await quickWorkers(dir, vars) });
  const lesson = clientOf(runtime);
  const turns = new Turns(AT_ONCE);
  let crash: Promise<unknown> | undefined;
  let isCrashWanted = false;
  const crashed = Promise.withResolvers<void>();
  crashed.promise.catch(() => undefined);
  turns.whenAllLeft(() => {
    if (!isCrashWanted) return;
    crash ??= runtime.crash().then(() => crashed.resolve(), crashed.reject);
  });

  const worldOf = async ({ worker }: Flow) =>
    (await lesson.env<{ WORLD: D1Database }>(worker)).WORLD;
  const instanceOf = async (flow: Flow, run: string) => {
    const env = await lesson.env<Record<string, Workflow>>(flow.worker);
    return env[flow.workflow ?? ""]?.get(run);
  };

  async function statusOf(flow: Flow, id: string, run: string): Promise<string> {
    if (flow.statusOf) return flow.statusOf(lesson, id);
    // Not there yet where its message is still in a queue.
    const instance = await instanceOf(flow, run).catch(() => undefined);
    return instance ? (await instance.status()).status : "unknown";
  }

  async function attempt(flow: Flow, trial: Trial): Promise<TrialRun> {
    const turn = await turns.take();
    const id = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
    const run = await flow.runOf(id);
    const says = trial.answer?.payload === YES ? "yes" : "no";
    const wantsCrash = trial.disturb !== undefined && "crash" in trial.disturb;
    let deadline = performance.now() + runTimeoutMs;
    let failure: string | undefined;
    let refusal: string | undefined;
    let status = "unknown";
    try {
      await scriptFaults(await worldOf(flow), run, trial.faults);
      const times = trial.disturb && "deliver" in trial.disturb ? trial.disturb.deliver : 1;
      for (let nth = 1; nth <= times; nth++) {
        const response = await flow.start(lesson, id);
        const text = await response.text();
        if (response.status >= 500) failure = `it was answered ${response.status}: ${text}`;
        else if (!response.ok && nth === 1) refusal = `it was refused: ${response.status} ${text}`;
      }
      for (let isKilled = false; ;) {
        // What was refused never begins.
        if (refusal) break;
        signal.throwIfAborted();
        if (wantsCrash && !isKilled) {
          const hanging = await hangingCalls(await worldOf(flow), run);
          if (hanging.length > 0) {
            isKilled = true;
            isCrashWanted = true;
            turn.leave();
            await unlessAborted(crashed.promise, signal);
            // What it waited for was not its own.
            deadline = performance.now() + runTimeoutMs;
            await forgetHangs(await worldOf(flow), run);
            if (flow.wake) await flow.wake(lesson, id);
            else {
              await (await instanceOf(flow, run))?.sendEvent({ type: WAKE_EVENT, payload: null });
            }
          }
        }
        status = await statusOf(flow, id, run);
        if (isOver(status)) break;
        if (performance.now() > deadline) {
          failure ??= `it is still ${status} after ${runTimeoutMs} ms`;
          break;
        }
        await flow.tend?.(lesson, id, says);
        await delay(LOOK_MS, undefined, { signal });
      }
    } finally {
      turn.leave();
    }
    const world = await worldOf(flow);
    const calls = await callsOf(world, run);
    tell({ flow: flow.name, trial: trial.name });
    return {
      run,
      failure: refusal ?? failure,
      report: { status, output: null, error: null, observations: {} },
      ledger: {
        effects: await effectsOf(world, run),
        operations: [...new Set(calls.map(({ operation }) => operation))],
        awaited: flow.tend ? ["a person"] : [],
        kept: 0,
      },
    };
  }

  try {
    const workflows = new Map(flows.map(({ workflow, worker }) => [workflow, worker]));
    for (const [workflow, worker] of workflows) {
      if (workflow) await runtime.withoutDelays(workflow, worker);
    }
    return await inPhases({
      subjects: flows,
      trialsOf: (_, normal) => flowTrialsOf(normal),
      attempt: (flow, trials) => Promise.all(trials.map((trial) => attempt(flow, trial))),
      judge: (_, ...trial) => judgeFlow(...trial),
    });
  } finally {
    await runtime.close();
  }
}

function clientOf(runtime: Runtime): RunningLesson {
  return {
    send: (method, path, body, headers = {}) =>
      runtime.fetch(path, {
        method,
        headers: {
          // As from many people: a lesson limits how often one may ask.
          "cf-connecting-ip": [10, ...randomBytes(3)].join("."),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    env: async <Bindings>(worker?: string) => (await runtime.env(worker)) as Bindings,
  };
}
