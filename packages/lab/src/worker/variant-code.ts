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
  load: () => Promise<object>,
  name: "consume" | "handle" | "run",
  scope: RunScope,
): Promise<Exported> {
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
        const quick = code.trial ? withoutDelays(String(method), rest, code.trial) : rest;
        return Reflect.apply(member, target, [
          name,
          ...quick.map((value) => watched(value, name, code)),
        ]);
      };
    },
  });
}

/** How often a step is tried that says nothing of it: Workflows documentation, "Sleeping and retrying". */
const DEFAULT_RETRIES = 5;
/** How long a trial waits for an event, in milliseconds: for one that is on its way, however slow the machine is. */
const WAIT_FOR_ANSWER_MS = 45_000;
/** The same where no answer comes. */
const WAIT_FOR_NOTHING_MS = 1000;

/** The arguments of a step's method after its name, with no time to lose between attempts, in sleeps and in waits. */
function withoutDelays(method: string, rest: unknown[], { answer }: TrialSettings): unknown[] {
  if (method === "sleep" || method === "sleepUntil") return [1];
  if (method === "waitForEvent") {
    const [options] = rest;
    if (typeof options !== "object" || options === null) return rest;
    return [{ ...options, timeout: answer ? WAIT_FOR_ANSWER_MS : WAIT_FOR_NOTHING_MS }];
  }
  if (method !== "do") return rest;
  const [config, ...others] = typeof rest[0] === "function" ? [{}, ...rest] : rest;
  return [quick(config), ...others.map(quickRollback)];
}

function quick(config: unknown): unknown {
  const given: unknown = isObject(config) ? Reflect.get(config, "retries") : undefined;
  const limit: unknown = isObject(given) ? Reflect.get(given, "limit") : DEFAULT_RETRIES;
  return { ...(isObject(config) && config), retries: { limit, delay: 1, backoff: "constant" } };
}

const quickRollback = (value: unknown) =>
  isObject(value) && "rollback" in value
    ? { ...value, rollbackConfig: quick(Reflect.get(value, "rollbackConfig")) }
    : value;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

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
