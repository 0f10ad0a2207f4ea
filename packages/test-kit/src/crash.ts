/**
 * A crash inside the runtime, at a point of a step. The engine takes the error below for a lost engine: nothing is recorded,
 * no catch block runs, and an event brings the instance back (measured locally). The real SIGKILL is in test/node.
 */
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { vi } from "vitest";
import { PATIENTLY } from "./until.ts";

/** Where a step is cut: before it begins, under way, or when its result is there and nobody has seen it. */
export const POINTS = ["before", "during", "after"] as const;
export type Point = (typeof POINTS)[number];

/** What became of an instance that crashed. */
export interface CrashLog {
  crashed: boolean;
  /** How often `run` was called. */
  runs: number;
  /** The steps whose callbacks were called, in their order, over all runs. */
  callbacks: string[];
  /** The results of each step, run by run. */
  results: Map<string, unknown[]>;
}

type Do = (name: string, ...rest: unknown[]) => Promise<unknown>;

/** A class of a Workflow, as far as a crash goes. */
interface WorkflowClass<Params> {
  prototype: { run(event: Readonly<WorkflowEvent<Params>>, step: WorkflowStep): Promise<unknown> };
}

/**
 * Lets the first run of a Workflow die at one point of a step. `vi.restoreAllMocks()` takes it back.
 *
 * @param workflow its class, as the Worker exports it
 * @param stepName a call of `do`, `sleep` or `waitForEvent`
 */
export function crashOnce<Params>(
  workflow: WorkflowClass<Params>,
  stepName: string,
  point: Point,
): CrashLog {
  const original = workflow.prototype.run;
  const crash = Promise.withResolvers<never>();
  crash.promise.catch(() => undefined);
  const log: CrashLog = { crashed: false, runs: 0, callbacks: [], results: new Map() };
  const never = () => new Promise<never>(() => {});
  const die = () => {
    log.crashed = true;
    crash.reject(new Error("Aborting engine: Grace period complete"));
    return never();
  };
  vi.spyOn(workflow.prototype, "run").mockImplementation(function run(this: unknown, event, step) {
    log.runs += 1;
    const first = log.runs === 1;
    const watch =
      (call: Do): Do =>
      async (name, ...rest) => {
        if (first && log.crashed) return never();
        const here = first && name === stepName;
        if (here && point === "before") return die();
        const watched = rest.map((argument) =>
          typeof argument === "function"
            ? async (ctx: unknown) => {
                log.callbacks.push(name);
                const value = await argument(ctx);
                return here && point === "during" ? die() : value;
              }
            : argument,
        );
        const result = call(name, ...watched);
        // A sleep or a wait has no callback to die in: it dies under way.
        if (here && point === "during" && !rest.some((part) => typeof part === "function")) {
          return die();
        }
        try {
          const value = await result;
          log.results.set(name, [...(log.results.get(name) ?? []), value]);
          return value;
        } finally {
          if (here && point === "after") await die();
        }
      };
    const watched = {
      do: watch(step.do as unknown as Do),
      sleep: watch(step.sleep as unknown as Do),
      waitForEvent: watch(step.waitForEvent as unknown as Do),
    };
    const work = original.call(this, event, watched as unknown as WorkflowStep);
    return first ? Promise.race([work, crash.promise]) : work;
  });
  return log;
}

/** Waits for the crash, and sends the event that makes the local engine load the instance again, until it has. */
export async function revive(log: CrashLog, instance: WorkflowInstance): Promise<void> {
  await vi.waitUntil(() => log.crashed, PATIENTLY);
  await vi.waitUntil(async () => {
    // Any event does it. Nobody waits for this one.
    await instance.sendEvent({ type: "wake", payload: null });
    return log.runs > 1;
  }, PATIENTLY);
}

/** The steps whose callbacks were called again: what was under way, and never what was finished. */
export const repeated = ({ callbacks }: CrashLog): string[] =>
  callbacks.filter((name, nth) => callbacks.indexOf(name) !== nth);
