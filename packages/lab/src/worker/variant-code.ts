// The types of the lessons read this file too, and bring no others for it.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./async-hooks.d.ts" />
import { AsyncLocalStorage } from "node:async_hooks";
import type { WorkflowStep } from "cloudflare:workers";
import type { RunScope } from "./env.ts";
import type { TrialSettings } from "../plan.ts";
import { runLogPrefix, type Thrown } from "../run-log.ts";

/** The run whose code is running, and the step whose callback it is. */
interface RunningCode {
  run: string;
  /** Does the driver read along? Otherwise the console is as the variant left it. */
  isLogged: boolean;
  step: string | null;
}

const running = new AsyncLocalStorage<RunningCode>();
const write = { ...console };

for (const level of ["debug", "error", "info", "log", "warn"] as const) {
  console[level] = (...values: unknown[]) => {
    const code = running.getStore();
    if (code?.isLogged) write[level](runLogPrefix(code.run, "console"), ...values);
    else write[level](...values);
  };
}

// An error in a helper of a helper shall still name the variant.
Reflect.set(Error, "stackTraceLimit", 50);

/**
 * Runs code of a variant, and tells the driver of it: that it begins, what it writes to its console, what it throws.
 *
 * @throws what the code throws
 */
export async function runVariantCode<T>(
  code: Omit<RunningCode, "step"> & { step?: string },
  work: () => T,
): Promise<Awaited<T>> {
  const { run, isLogged, step = null } = code;
  if (isLogged) write.debug(runLogPrefix(run, "entered"));
  try {
    return await running.run({ run, isLogged, step }, work);
  } catch (error) {
    if (isLogged) write.debug(runLogPrefix(run, "threw"), JSON.stringify(thrown(error, step)));
    throw error;
  }
}

/**
 * Loads a function that a variant exports.
 *
 * @throws Error where it exports none of that name, and whatever its module throws
 */
export async function exportedFunction<Exported>(
  load: (() => Promise<object>) | undefined,
  name: "consume" | "handle" | "run",
  scope: RunScope,
): Promise<Exported> {
  if (!load) throw new Error(`"${scope.pair}" has no ${scope.variant} here.`);
  const module = await runVariantCode(scope, load);
  const exported: unknown = Reflect.get(module, name);
  if (typeof exported !== "function") {
    const names = Object.keys(module).join(", ") || "nothing";
    throw new Error(
      `The ${scope.variant} of "${scope.pair}" must export a function ${name}(), but exports ${names}.`,
    );
  }
  return exported as Exported;
}

/** Tells the driver that everything has been told that was written so far. */
export function flushRunLog(run: string): void {
  write.debug(runLogPrefix(run, "flushed"));
}

/** A step whose callbacks are watched like the rest of the variant: the engine calls them from outside. */
export function watchedStep(step: WorkflowStep, code: RunScope): WorkflowStep {
  return new Proxy(step, {
    get(target, method) {
      const member: unknown = Reflect.get(target, method);
      if (typeof member !== "function") return member;
      return (name: string, ...rest: unknown[]) => {
        const args = code.trial && method === "waitForEvent" ? rest.map(waitOf(code.trial)) : rest;
        return Reflect.apply(member, target, [
          name,
          ...args.map((value) => watched(value, name, code)),
        ]);
      };
    },
  });
}

/** How long a trial waits for an event, in milliseconds: for one that is on its way, however slow the machine is. */
const WAIT_FOR_ANSWER_MS = 45_000;
/** The same where no answer comes. */
const WAIT_FOR_NOTHING_MS = 1000;

/** The options of a wait in a trial, where nobody waits for a day. The harness takes out the other delays. */
const waitOf =
  ({ answer }: TrialSettings) =>
  (options: unknown): unknown =>
    typeof options === "object" && options !== null
      ? { ...options, timeout: answer ? WAIT_FOR_ANSWER_MS : WAIT_FOR_NOTHING_MS }
      : options;

/** A callback, or options that hold a rollback handler. */
function watched(value: unknown, step: string, code: Omit<RunningCode, "step">): unknown {
  if (typeof value === "function") {
    return (...args: unknown[]) =>
      runVariantCode({ ...code, step }, () => Reflect.apply(value, undefined, args));
  }
  if (typeof value === "object" && value !== null && "rollback" in value) {
    return { ...value, rollback: watched(value.rollback, step, code) };
  }
  return value;
}

function thrown(error: unknown, step: string | null): Thrown {
  if (!(error instanceof Error)) {
    return { name: "Not an Error", message: String(error), stack: null, step };
  }
  const { name, message, stack = null } = error;
  return { name, message, stack, step };
}
