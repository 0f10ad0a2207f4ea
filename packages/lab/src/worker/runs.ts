import { EVENTS } from "@durable-lessons/types";
import {
  countEffects,
  effectsOf,
  hangingCalls,
  type Observation,
  observationsOf,
  openRun,
  readRun,
  recordRun,
} from "@durable-lessons/outside-world";
import type { RunContext, RunReport, Variant } from "../pair.ts";
import type { LabBindings, LabMessage, RequestContext, RunnablePair } from "./env.ts";
import { variantEnv } from "./variant-env.ts";

/** One run of one variant. Everything that must outlive a crash is in the database. */
export class Run<Env extends LabBindings> {
  readonly #env: Env;
  readonly #pair: RunnablePair<Env>;
  readonly #variant: Variant;
  readonly #context: RunContext;

  private constructor(env: Env, pair: RunnablePair<Env>, variant: Variant, context: RunContext) {
    this.#env = env;
    this.#pair = pair;
    this.#variant = variant;
    this.#context = context;
  }

  /** Opens a new run. Nothing of it has happened yet: see {@link start}. */
  static async open<Env extends LabBindings>(
    env: Env,
    pair: RunnablePair<Env>,
    variant: Variant,
  ): Promise<Run<Env>> {
    const context = { run: crypto.randomUUID().slice(0, 13), now: Date.now() };
    const startedBy = { pair: pair.id, variant, now: context.now };
    await openRun(env.WORLD, context.run, { faults: pair.faults, startedBy });
    return new Run(env, pair, variant, context);
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
    return new Run(env, pair, variant, { run, now: startedBy.now });
  }

  /** The run's id. */
  get id(): string {
    return this.#context.run;
  }

  /** The run's start, in milliseconds since the epoch. */
  get startedAt(): number {
    return this.#context.now;
  }

  /** Starts what the pair's engine calls a run. Returns at once. */
  async start(ctx: RequestContext): Promise<void> {
    const pair = this.#pair;
    switch (pair.engine) {
      case "workflow": {
        const params = pair.params?.(this.#context);
        await this.#env.PITFALLS.create({ id: this.id, params: { ...this.#scope, params } });
        return;
      }
      case "queue": {
        const times = timesDelivered(pair);
        for (let delivery = 1; delivery <= times; delivery++) await this.#send(this.#messages());
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
    return {
      ...ending,
      evidence: countEffects(effects),
      observations: count(observations),
      hanging,
      effects,
    };
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
      await instance.sendEvent({ type: EVENTS.wake, payload: null });
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
   * Does to the run what its pair says: `restart` or `sendEvent`.
   *
   * @returns what it did, or null where the pair wants neither
   */
  async disturb(): Promise<string | null> {
    const { disturb } = this.#pair;
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
    return null;
  }

  /** The Workflow instances of this run, as the platform knows them. */
  async instanceIds(): Promise<string[]> {
    if (this.#pair.engine === "workflow") return [this.id];
    const observations = await observationsOf(this.#env.WORLD, this.id);
    return observations
      .filter(({ kind }) => kind === "workflow.created")
      .map(({ detail }) => String(detail));
  }

  get #scope() {
    return { pair: this.#pair.id, variant: this.#variant, run: this.id };
  }

  async #ending(): Promise<Pick<RunReport, "status" | "output" | "error">> {
    const instances = await Promise.all(
      (await this.instanceIds()).map(async (id) => (await this.#env.PITFALLS.get(id)).status()),
    );
    if (this.#pair.engine === "workflow") {
      const [{ status, output = null, error = null } = { status: "unknown" }] = instances;
      return { status, output, error };
    }
    const own =
      this.#pair.engine === "queue" ? await this.#queueEnding() : await this.#httpEnding();
    const open = instances.find(({ status }) => !isOver(status));
    const failed = instances.find(({ status }) => status !== "complete");
    if (own.status !== "complete" || !(open ?? failed)) return own;
    return {
      ...own,
      status: (open ? "running" : failed?.status) ?? "unknown",
      error: failed?.error ?? null,
    };
  }

  async #httpEnding() {
    const record = await readRun(this.#env.WORLD, this.id);
    return {
      status: record?.status ?? "running",
      output: record?.output ?? null,
      error: record?.error ?? null,
    };
  }

  async #queueEnding() {
    const settled = settledMessages(await observationsOf(this.#env.WORLD, this.id));
    const times = timesDelivered(this.#pair);
    const done = this.#messages().every(
      ({ body: { lab } }) => settled.filter((index) => index === lab.index).length >= times,
    );
    return { status: done ? "complete" : "running", output: null, error: null };
  }

  async #request(ctx: RequestContext): Promise<void> {
    const { WORLD } = this.#env;
    if (this.#pair.engine !== "http") return;
    const body = JSON.stringify(this.#pair.body(this.#context));
    try {
      const responses = [];
      const times = timesDelivered(this.#pair);
      for (let nth = 1; nth <= times; nth++) {
        const request = new Request("https://lesson.example/", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        });
        const env = variantEnv(this.#env, this.#scope);
        const response = await this.#pair[this.#variant].handle(request, env, ctx);
        responses.push({ status: response.status, body: await response.text() });
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
    const binding = typeof pair.queue === "string" ? pair.queue : pair.queue[this.#variant];
    const queue: unknown = Reflect.get(this.#env, binding);
    if (!isQueue(queue)) throw new Error(`The Worker has no queue binding "${binding}".`);
    await queue.sendBatch(messages);
  }
}

/** Is this status of an instance final? */
export const isOver = (status: string) =>
  status === "complete" || status === "errored" || status === "terminated";

const isStart = (value: unknown): value is { pair: string; variant: string; now: number } =>
  typeof value === "object" &&
  value !== null &&
  "pair" in value &&
  "variant" in value &&
  "now" in value;

const isQueue = (value: unknown): value is Queue<LabMessage> =>
  typeof value === "object" && value !== null && "sendBatch" in value;

function timesDelivered({ disturb }: { disturb?: unknown }): number {
  return typeof disturb === "object" && disturb !== null && "deliver" in disturb
    ? Number(disturb.deliver)
    : 1;
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
