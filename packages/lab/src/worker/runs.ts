import {
  countEffects,
  effectsOf,
  hangingCalls,
  marksOf,
  type Observation,
  observationsOf,
  observe,
  openRun,
  readRun,
  recordRun,
} from "@durable-lessons/outside-world";
import { type Mark, WAKE_EVENT } from "@durable-lessons/types";
import { eventsSoFar } from "@durable-lessons/worker-helpers/instances";
import {
  type Disturbance,
  isOver,
  type RunContext,
  type RunReport,
  type Variant,
} from "../pair.ts";
import type { Handles, LabBindings, LabMessage, RequestContext, RunnablePair } from "./env.ts";
import { boundQueue, queueBindingOf } from "./run-queue.ts";
import { isStart, type RunPlan, type RunStart } from "./run-record.ts";
import { exportedFunction, runVariantCode } from "./variant-code.ts";
import { variantEnv } from "./variant-env.ts";

/** What a variant exports, for each engine. */
const ENTRY = { workflow: "run", queue: "consume", http: "handle" } as const;

/** One run of one variant. Everything that must outlive a crash is in the database. */
export class Run<Env extends LabBindings> {
  readonly #env: Env;
  readonly #pair: RunnablePair<Env>;
  readonly #variant: Variant;
  readonly #context: RunContext;
  readonly #disturb: Disturbance | undefined;
  readonly #isLogged: boolean;

  private constructor(
    env: Env,
    pair: RunnablePair<Env>,
    { variant, now, disturb, logged = false }: RunStart,
    run: string,
  ) {
    this.#env = env;
    this.#pair = pair;
    this.#variant = variant;
    this.#context = { run, now };
    this.#disturb = disturb ?? undefined;
    this.#isLogged = logged;
  }

  /**
   * Opens a new run. Nothing of it has happened yet: see {@link start}.
   *
   * @param plan what is done to it, where it is not what the pair says
   */
  static async open<Env extends LabBindings>(
    env: Env,
    pair: RunnablePair<Env>,
    variant: Variant,
    plan: RunPlan = {},
  ): Promise<Run<Env>> {
    const { faults = pair.faults, disturb = pair.disturb, logged } = plan;
    const { run = crypto.randomUUID().slice(0, 13) } = plan;
    const startedBy: RunStart = { pair: pair.id, variant, now: Date.now(), disturb, logged };
    await openRun(env.WORLD, run, { faults, startedBy });
    return new Run(env, pair, startedBy, run);
  }

  /** Finds a run of this pair and variant, or null. */
  static async find<Env extends LabBindings>(
    env: Env,
    pair: RunnablePair<Env>,
    variant: Variant,
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
    return this.#context.run;
  }

  /** The run's start, in milliseconds since the epoch. */
  get startedAt(): number {
    return this.#context.now;
  }

  /**
   * Starts what the pair's engine calls a run. Returns at once.
   *
   * @throws Error where the variant does not export what the engine calls
   */
  async start(ctx: RequestContext): Promise<void> {
    const pair = this.#pair;
    await exportedFunction(pair[this.#variant], ENTRY[pair.engine], this.#scope);
    switch (pair.engine) {
      case "workflow": {
        const params = pair.params?.(this.#context);
        await this.#env.PITFALLS.create({ id: this.id, params: { ...this.#scope, params } });
        return;
      }
      case "queue": {
        const times = timesDelivered(this.#disturb);
        const batches = isAtOnce(this.#disturb)
          ? [this.#messages().flatMap((message) => Array.from({ length: times }, () => message))]
          : Array.from({ length: times }, () => this.#messages());
        for (const messages of batches) await this.#send(messages);
        return;
      }
      case "http": {
        ctx.waitUntil(this.#request(ctx));
        return;
      }
    }
  }

  /** How the run stands, with its evidence. */
  async report(): Promise<RunReport & { effects: unknown[] }> {
    const { WORLD } = this.#env;
    // First the ending: what is counted after a run has ended is complete.
    const ending = await this.#ending();
    const [effects, observations, hanging] = await Promise.all([
      effectsOf(WORLD, this.id),
      observationsOf(WORLD, this.id),
      hangingCalls(WORLD, this.id),
    ]);
    const expected = this.#pair.expect[this.#variant];
    const countsSteps = isOver(ending.status) && "workflow.step-started" in expected;
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

  /** The run's effects and observations with their times, for a picture of it. */
  marks(): Promise<Mark[]> {
    return marksOf(this.#env.WORLD, this.id);
  }

  /**
   * Brings a run back that died with the runtime. An instance of a Workflow gets an event, since the local engine
   * does not wake by itself (measured locally); a request without an answer is sent again, as its client would; a
   * message without an ack is sent again, since local queues live in memory (measured locally).
   *
   * @returns what it did
   */
  async wake(ctx: RequestContext): Promise<string> {
    const ids = await this.instanceIds();
    for (const id of ids) {
      const instance = await this.#env.PITFALLS.get(id);
      if (isOver((await instance.status()).status)) continue;
      await instance.sendEvent({ type: WAKE_EVENT, payload: null });
    }
    switch (this.#pair.engine) {
      case "workflow":
        return "sent the instance an event";
      case "http": {
        if ((await readRun(this.#env.WORLD, this.id))?.status)
          return "every request has its answer";
        ctx.waitUntil(this.#request(ctx));
        return "sent the request again";
      }
      case "queue": {
        const settled = new Set(settledMessages(await observationsOf(this.#env.WORLD, this.id)));
        const lost = this.#messages().filter(({ body }) => !settled.has(body.lab.index));
        await this.#send(lost);
        return `sent ${lost.length} messages again`;
      }
    }
  }

  /**
   * Does to the run what its pair says: `restart`, `sendEvent` or `expire`.
   *
   * @returns what it did, or null where the pair wants neither
   */
  async disturb(): Promise<string | null> {
    const disturb = this.#disturb;
    if (!disturb) return null;
    if ("restart" in disturb) {
      const instance = await this.#env.PITFALLS.get(this.id);
      const { from } = disturb.restart;
      await instance.restart(from ? { from: { name: from } } : {});
      return from ? `restarted from "${from}"` : "restarted";
    }
    if ("sendEvent" in disturb) {
      const instance = await this.#env.PITFALLS.get(this.id);
      const { type, payload = null, times = 1 } = disturb.sendEvent;
      for (let nth = 1; nth <= times; nth++) await instance.sendEvent({ type, payload });
      return `sent "${type}" ${times} times`;
    }
    if ("expire" in disturb) {
      const ids = await this.instanceIds();
      await observe(
        this.#env.WORLD,
        this.id,
        ids.map((detail) => ({ kind: "workflow.expired", detail })),
      );
      for (const id of ids) await (await this.#env.PITFALLS.get(id)).delete();
      await this.#send(this.#messages());
      return "deleted the instances and sent the messages again";
    }
    return null;
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

  async #countSteps(): Promise<number> {
    const events = await Promise.all((await this.#instances()).map(eventsSoFar));
    return events.flat().filter(({ type }) => type === "step_started").length;
  }

  async #instances(): Promise<WorkflowInstance[]> {
    const ids = await this.instanceIds();
    return Promise.all(ids.map((id) => this.#env.PITFALLS.get(id)));
  }

  /** The Workflow instances of this run, as the platform knows them. */
  async instanceIds(): Promise<string[]> {
    if (this.#pair.engine === "workflow") return [this.id];
    const ids = new Set<string>();
    for (const { kind, detail } of await observationsOf(this.#env.WORLD, this.id)) {
      if (kind === "workflow.created") ids.add(String(detail));
      if (kind === "workflow.expired") ids.delete(String(detail));
    }
    return [...ids];
  }

  get #scope() {
    const isLogged = this.#isLogged;
    return { pair: this.#pair.id, variant: this.#variant, run: this.id, isLogged };
  }

  async #ending(): Promise<Pick<RunReport, "status" | "output" | "error">> {
    const own = await this.#ownEnding();
    // Then the instances: a run that has ended starts no more.
    const instances = await Promise.all(
      (await this.instanceIds()).map(async (id) => (await this.#env.PITFALLS.get(id)).status()),
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

  /** How the request or the messages of this run stand; null for a Workflow, whose instance is all there is. */
  async #ownEnding(): Promise<Pick<RunReport, "status" | "output" | "error"> | null> {
    switch (this.#pair.engine) {
      case "workflow":
        return null;
      case "http":
        return this.#httpEnding();
      case "queue":
        return this.#queueEnding();
    }
  }

  async #httpEnding() {
    const record = await readRun(this.#env.WORLD, this.id);
    // Its answers are in, but what it has put into a queue counts too.
    const observations = record?.status ? await observationsOf(this.#env.WORLD, this.id) : [];
    return {
      status: isQueueEmpty(observations) ? (record?.status ?? "running") : "running",
      output: record?.output ?? null,
      error: record?.error ?? null,
    };
  }

  async #queueEnding() {
    const observations = await observationsOf(this.#env.WORLD, this.id);
    const settled = settledMessages(observations);
    const isExpired = observations.some(({ kind }) => kind === "workflow.expired");
    const times = timesDelivered(this.#disturb) + (isExpired ? 1 : 0);
    const done = this.#messages().every(
      ({ body: { lab } }) => settled.filter((index) => index === lab.index).length >= times,
    );
    // What a consumer has put into the queue counts too.
    if (!done || !isQueueEmpty(observations))
      return { status: "running", output: null, error: null };
    return { status: "complete", output: await this.#readOutput(), error: null };
  }

  async #readOutput(): Promise<unknown> {
    const pair = this.#pair;
    if (pair.engine !== "queue" || !pair.output) return null;
    const { binding, sql } = pair.output;
    const db: unknown = Reflect.get(this.#env, binding);
    if (!isDatabase(db)) throw new Error(`The Worker has no D1 binding "${binding}".`);
    return db.prepare(sql).bind(this.id).first();
  }

  async #request(ctx: RequestContext): Promise<void> {
    const { WORLD } = this.#env;
    if (this.#pair.engine !== "http") return;
    const body = JSON.stringify(this.#pair.body(this.#context));
    try {
      const responses = [];
      const times = timesDelivered(this.#disturb);
      const load: () => Promise<object> = this.#pair[this.#variant];
      const handle = await exportedFunction<Handles<Env>["handle"]>(load, "handle", this.#scope);
      for (let nth = 1; nth <= times; nth++) {
        const request = new Request("https://lesson.example/", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        });
        const queue = queueBindingOf(this.#pair, this.#variant);
        const env = variantEnv(this.#env, this.#scope, queue);
        const response = await runVariantCode(this.#scope, () => handle(request, env, ctx));
        const effects = (await effectsOf(WORLD, this.id)).length;
        responses.push({ status: response.status, body: await response.text(), effects });
      }
      await recordRun(WORLD, this.id, { status: "complete", output: { responses } });
    } catch (error) {
      await recordRun(WORLD, this.id, { status: "errored", error: nameAndMessage(error) });
    }
  }

  #messages(): MessageSendRequest<LabMessage>[] {
    const pair = this.#pair;
    if (pair.engine !== "queue") return [];
    return pair
      .messages(this.#context)
      .map((body, index) => ({ body: { lab: { ...this.#scope, index }, body } }));
  }

  async #send(messages: MessageSendRequest<LabMessage>[]): Promise<void> {
    const pair = this.#pair;
    if (pair.engine !== "queue" || messages.length === 0) return;
    await boundQueue(this.#env, queueBindingOf(pair, this.#variant)).sendBatch(messages);
  }
}

const isDatabase = (value: unknown): value is D1Database =>
  typeof value === "object" && value !== null && "prepare" in value;

const timesDelivered = (disturb: Disturbance | undefined) =>
  disturb && "deliver" in disturb ? disturb.deliver : 1;

const isAtOnce = (disturb: Disturbance | undefined) =>
  disturb !== undefined && "atOnce" in disturb && disturb.atOnce;

/** Is every message settled that a variant has sent? */
function isQueueEmpty(observations: Observation[]): boolean {
  const settled = new Set(settledMessages(observations));
  return observations.every(
    ({ kind, detail }) => kind !== "message.sent" || settled.has(Number(detail)),
  );
}

function settledMessages(observations: Observation[]): number[] {
  return observations
    .filter(({ kind }) => kind === "message.acked" || kind === "message.dead-lettered")
    .map(({ detail }) => Number(detail));
}

function count(observations: Observation[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of observations) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

const nameAndMessage = (error: unknown) =>
  error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: "Error", message: String(error) };
