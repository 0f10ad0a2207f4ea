import {
  callsOf,
  countEffects,
  effectsOf,
  forgetHangs,
  hangingCalls,
  marksOf,
  type Observation,
  observationsOf,
  openRun,
  readRun,
} from "@durable-lessons/outside-world";
import { type Mark, WAKE_EVENT } from "@durable-lessons/types";
import { eventsSoFar } from "@durable-lessons/worker-helpers/instances";
import { type AnyVariant, isOver, type RunLedger, type RunReport, sideOf } from "../pair.ts";
import { lastOf, neighbourOf } from "../trials.ts";
import { databaseOf } from "./database.ts";
import type { Ending, Engine, EngineRun } from "./engines/engine.ts";
import { httpEngine } from "./engines/http.ts";
import { queueEngine } from "./engines/queue.ts";
import { workflowEngine } from "./engines/workflow.ts";
import type { LabBindings, RequestContext, RunnablePair } from "./env.ts";
import { isStart, type RunPlan, type RunStart } from "./run-record.ts";
import { exportedFunction } from "./variant-code.ts";

/** What a variant exports, for each engine. */
const ENTRY = { workflow: "run", queue: "consume", http: "handle" } as const;

/** One run of one variant. Everything that must outlive a crash is in the database. */
export class Run<Env extends LabBindings> {
  readonly #run: EngineRun<Env, RunnablePair<Env>>;
  readonly #engine: Engine;

  private constructor(env: Env, pair: RunnablePair<Env>, start: RunStart, run: string) {
    const { variant, now, disturb, logged = false, trial } = start;
    const scope = { pair: pair.id, variant, run, isLogged: logged, trial };
    const context = { run, now };
    this.#run = { env, pair, variant, context, disturb: disturb ?? undefined, scope };
    this.#engine = engineOf(this.#run);
  }

  /**
   * Opens a new run. Nothing of it has happened yet: see {@link start}.
   *
   * @param plan what is done to it, where it is not what the pair says
   */
  static async open<Env extends LabBindings>(
    env: Env,
    pair: RunnablePair<Env>,
    variant: AnyVariant,
    plan: RunPlan = {},
  ): Promise<Run<Env>> {
    const { faults = pair.faults, disturb = pair.disturb, logged, trial } = plan;
    const { run = crypto.randomUUID().slice(0, 13) } = plan;
    const startedBy: RunStart = { pair: pair.id, variant, now: Date.now(), disturb, logged, trial };
    // Whose effects are whose when it has a neighbour.
    const names = trial && [lastOf(run), neighbourOf(run)];
    await openRun(env.WORLD, run, { faults, startedBy, names });
    return new Run(env, pair, startedBy, run);
  }

  /** Finds a run of this pair and variant, or null. */
  static async find<Env extends LabBindings>(
    env: Env,
    pair: RunnablePair<Env>,
    variant: AnyVariant,
    run: string,
  ): Promise<Run<Env> | null> {
    const record = await readRun(env.WORLD, run);
    const startedBy = record?.startedBy;
    if (!isStart(startedBy) || startedBy.pair !== pair.id || startedBy.variant !== variant) {
      return null;
    }
    return new Run(env, pair, startedBy, run);
  }

  /** The run's id. */
  get id(): string {
    return this.#run.context.run;
  }

  /** The run's start, in milliseconds since the epoch. */
  get startedAt(): number {
    return this.#run.context.now;
  }

  /**
   * Starts what the pair's engine calls a run. Returns at once.
   *
   * @throws Error where the variant does not export what the engine calls
   */
  async start(ctx: RequestContext): Promise<void> {
    const { pair, variant, scope } = this.#run;
    await exportedFunction(pair[variant], ENTRY[pair.engine], scope);
    await this.#engine.start(ctx);
  }

  /** How the run stands, with its evidence. */
  async report(): Promise<RunReport & { effects: unknown[] }> {
    const { env, pair, variant } = this.#run;
    // First the ending: what is counted after a run has ended is complete.
    const ending = await this.#ending();
    const [effects, observations, hanging] = await Promise.all([
      effectsOf(env.WORLD, this.id),
      observationsOf(env.WORLD, this.id),
      hangingCalls(env.WORLD, this.id),
    ]);
    const countsSteps =
      isOver(ending.status) && "workflow.step-started" in pair.expect[sideOf(variant)];
    return {
      ...ending,
      evidence: countEffects(effects),
      observations: {
        ...count(observations),
        ...(countsSteps ? { "workflow.step-started": await this.#countSteps() } : {}),
      },
      hanging,
      effects,
    };
  }

  /** What the judge of a trial looks at, beside the report. */
  async ledger(): Promise<RunLedger> {
    const { env, pair } = this.#run;
    const [effects, calls, observations] = await Promise.all([
      effectsOf(env.WORLD, this.id),
      callsOf(env.WORLD, this.id),
      observationsOf(env.WORLD, this.id),
    ]);
    const events = await Promise.all((await this.#instances()).map(eventsSoFar));
    return {
      effects,
      operations: [...new Set(calls.map(({ operation }) => operation))],
      awaited: [
        ...new Set(events.flat().flatMap((event) => ("eventType" in event ? event.eventType : []))),
      ],
      kept: await keptMessages(env, pair, observations),
    };
  }

  /** Sends the run's instance an event. */
  async sendEvent(type: string, payload: unknown): Promise<void> {
    for (const instance of await this.#instances()) await instance.sendEvent({ type, payload });
  }

  /** The run's effects and observations with their times, for a picture of it. */
  marks(): Promise<Mark[]> {
    return marksOf(this.#run.env.WORLD, this.id);
  }

  /**
   * Brings a run back that died with the runtime. An instance of a Workflow gets an event, since the local engine
   * does not wake by itself (measured locally); a request without an answer is sent again, as its client would; a
   * message without an ack is sent again, since local queues live in memory (measured locally).
   *
   * @returns what it did
   */
  async wake(ctx: RequestContext): Promise<string> {
    await forgetHangs(this.#run.env.WORLD, this.id);
    for (const instance of await this.#instances()) {
      if (isOver((await instance.status()).status)) continue;
      await instance.sendEvent({ type: WAKE_EVENT, payload: null });
    }
    return this.#engine.wake(ctx);
  }

  /**
   * Does to the run what its plan says: `restart`, `sendEvent` or `expire`.
   *
   * @returns what it did, or null where the plan wants neither
   */
  disturb(): Promise<string | null> {
    return this.#engine.disturb();
  }

  /**
   * Ends a run that waits for an event.
   *
   * @returns false where it has no instance, or one that does not wait; then nothing is done
   */
  async end(): Promise<boolean> {
    const instances = await this.#instances();
    const events = await Promise.all(instances.map(eventsSoFar));
    const isWaiting = events.every((list) => list.at(-1)?.type === "wait_started");
    if (instances.length === 0 || !isWaiting) return false;
    await Promise.all(instances.map((instance) => instance.terminate()));
    return true;
  }

  /** The Workflow instances of this run, as the platform knows them. */
  instanceIds(): Promise<string[]> {
    return this.#engine.instanceIds();
  }

  async #countSteps(): Promise<number> {
    const events = await Promise.all((await this.#instances()).map(eventsSoFar));
    return events.flat().filter(({ type }) => type === "step_started").length;
  }

  async #instances(): Promise<WorkflowInstance[]> {
    const ids = await this.instanceIds();
    return Promise.all(ids.map((id) => this.#run.env.PITFALLS.get(id)));
  }

  async #ending(): Promise<Ending> {
    const own = await this.#engine.ending();
    // Then the instances: a run that has ended starts no more.
    const instances = await Promise.all(
      (await this.#instances()).map((instance) => instance.status()),
    );
    if (!own) {
      const [{ status, output = null, error = null } = { status: "unknown" }] = instances;
      return { status, output, error };
    }
    const open = instances.find(({ status }) => !isOver(status));
    const failed = instances.find(({ status }) => status !== "complete");
    if (own.status !== "complete" || !(open ?? failed)) return own;
    return {
      ...own,
      status: (open ? "running" : failed?.status) ?? "unknown",
      error: failed?.error ?? null,
    };
  }
}

/** How many of its messages a variant keeps in a table of its own. */
async function keptMessages(
  env: object,
  pair: RunnablePair<never>,
  observations: Observation[],
): Promise<number> {
  if (pair.engine !== "queue" || !pair.kept) return 0;
  const { binding, sql } = pair.kept;
  const ids = observations.filter(({ kind }) => kind === "message.id").map(({ detail }) => detail);
  const row = await databaseOf(env, binding)
    .prepare(sql)
    .bind(JSON.stringify(ids))
    .first<{ n: number }>();
  return row?.n ?? 0;
}

function engineOf<Env extends LabBindings>(run: EngineRun<Env, RunnablePair<Env>>): Engine {
  const { pair } = run;
  switch (pair.engine) {
    case "workflow":
      return workflowEngine({ ...run, pair });
    case "queue":
      return queueEngine({ ...run, pair });
    case "http":
      return httpEngine({ ...run, pair });
  }
}

function count(observations: Observation[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of observations) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
