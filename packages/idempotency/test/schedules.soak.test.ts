import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { consumeOnce, InDoubtError, PermanentError } from "../src/index.ts";
import { overBadConnection, type Fault } from "./fault.ts";
import { newKey } from "./helpers.ts";

// A schedule is a tree: what happens one after the other, and during an effect what happens meanwhile. Time, crashes and
// lost connections are part of it, so it alone says when everything falls, and the same seed makes the same run.

interface Delivery {
  what: "delivery";
  keys: number[];
  /** What the handlers do, in the order in which they start. */
  scripts: Script[];
  /** What goes wrong with the first and the second try of each statement. */
  faults: { claim: Try[]; renew: Try[]; complete: Try[]; release: Try[] };
  concurrency: number;
}

type Happening = Delivery | { what: "time passes" | "the clock is set back"; ms: number };
type Try = Fault | undefined;

interface Script {
  meanwhile: Happening[];
  end:
    | "success"
    | "failure"
    | "permanent failure"
    | "crash before the effect"
    | "crash after the effect";
}

const SCHEDULES = env.SCHEDULES;
const LEASE_MS = 600_000;
const KEYS = 3;
const HANDLER_MS = LEASE_MS / 2;
/** How long the provider remembers a key, in the schedules in which it forgets. */
const MEMORY_MS = 2 * LEASE_MS;

function happening(depth: number): fc.Arbitrary<Happening> {
  const script: fc.Arbitrary<Script> = fc.record({
    meanwhile: depth === 0 ? fc.constant([]) : fc.array(happening(depth - 1), { maxLength: 2 }),
    end: fc.constantFrom(
      "success",
      "success",
      "failure",
      "permanent failure",
      "crash before the effect",
      "crash after the effect",
    ),
  });
  const tries = fc.array(fc.constantFrom<Try[]>(undefined, undefined, "lost", "unanswered"), {
    maxLength: 2,
  });
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        what: fc.constant("delivery" as const),
        keys: fc.array(fc.nat(KEYS - 1), { minLength: 1, maxLength: 4 }),
        scripts: fc.array(script, { minLength: 1, maxLength: 3 }),
        faults: fc.record({ claim: tries, renew: tries, complete: tries, release: tries }),
        concurrency: fc.integer({ min: 1, max: 2 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        what: fc.constant("time passes" as const),
        ms: fc.oneof(
          fc.integer({ min: 0, max: 2 * LEASE_MS }),
          fc.constantFrom(LEASE_MS - 1, LEASE_MS),
        ),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        what: fc.constant("the clock is set back" as const),
        ms: fc.integer({ min: 0, max: 10 * LEASE_MS }),
      }),
    },
  );
}

/** How often each turn was taken in all schedules: a property that never gets anywhere proves nothing. */
const seen = new Map<string, number>();

function count(turn: string): void {
  seen.set(turn, (seen.get(turn) ?? 0) + 1);
}

/** The queue, the provider and the clocks around one schedule, and everything that must not happen there. */
class World {
  readonly wrong: string[] = [];
  readonly #prefix = newKey();
  readonly #forgets: boolean;
  /** When a key reached the provider first. */
  readonly #asked = new Map<string, number>();
  /** Time as it really passes. */
  #time = 0;
  /** What waits for a time: renewals of consumers at work. */
  readonly #timers = new Set<{ at: number; run: () => Promise<void> }>();
  /** How far D1's clock is off. */
  #offset = 100 * LEASE_MS;
  /** Messages that were sent and not acked. */
  readonly #queue = new Map<string, number>();
  /** Effects that have happened, by key. */
  readonly #effects = new Map<string, number>();
  readonly #parked = new Set<string>();
  /** Until when the lease of the last effect is alive, at least; not there once the effect has failed. */
  readonly #leases = new Map<string, number>();
  readonly #done = new Map<string, unknown>();
  /** Keys of which a message was acked as done. */
  readonly #acked = new Set<string>();
  #sent = 0;

  constructor(forgets: boolean) {
    this.#forgets = forgets;
  }

  async run(happenings: readonly Happening[]): Promise<void> {
    for (const next of happenings) {
      if (next.what === "delivery") await this.#deliver(this.#send(next.keys), next);
      else if (next.what === "time passes") await this.#pass(next.ms);
      // A clock that goes back hides how long the provider has had to forget: `claim` says so.
      else if (!this.#forgets) this.#offset -= next.ms;
      await this.#checkRows();
    }
  }

  /** Everything works from here on: the queue must run empty, and every key be done or parked. */
  async drain(): Promise<void> {
    const calm = {
      scripts: [],
      faults: { claim: [], renew: [], complete: [], release: [] },
      concurrency: 10,
    };
    // Once to see leases that the clock has lengthened, once to take them over.
    for (let round = 0; round < 2; round++) {
      await this.#pass(LEASE_MS);
      await this.#deliver(new Map(this.#queue), calm);
      await this.#checkRows();
    }
    if (this.#queue.size > 0) this.wrong.push(`${this.#queue.size} messages are never done`);
  }

  /** Lets time pass, and whatever waits for it happen at its own time. */
  async #pass(ms: number): Promise<void> {
    const end = this.#time + ms;
    for (;;) {
      const [next] = [...this.#timers]
        .filter(({ at }) => at <= end)
        .toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#time = Math.max(this.#time, next.at);
      await next.run();
    }
    this.#time = Math.max(this.#time, end);
  }

  #send(keys: readonly number[]): Map<string, number> {
    const messages = new Map(keys.map((key) => [`m${this.#sent++}`, key]));
    for (const [id, key] of messages) this.#queue.set(id, key);
    return messages;
  }

  async #deliver(
    messages: ReadonlyMap<string, number>,
    { scripts, faults, concurrency }: Omit<Delivery, "what" | "keys">,
  ): Promise<void> {
    const process = { dead: false, claimedAt: this.#time, owners: new Map<string, string>() };
    const tries = {
      claim: [...faults.claim],
      renew: [...faults.renew],
      complete: [...faults.complete],
      release: [...faults.release],
    };
    const db = overBadConnection(env.DB, (statement) => {
      if (process.dead) return "lost";
      if (statement === "other") return undefined;
      const fault = tries[statement].shift();
      if (fault) count(`${statement} ${fault}`);
      if (statement === "renew" && fault !== "lost") renewed = true;
      return fault;
    });
    let renewed = false;
    const waiting = [...scripts];
    const batch = createMessageBatch<number>(
      "work",
      [...messages].map(([id, body]) => ({ id, timestamp: 0, attempts: 1, body })),
    );

    const outcomes = await consumeOnce(batch, {
      db,
      concurrency,
      leaseMs: LEASE_MS,
      handlerTimeoutMs: HANDLER_MS,
      ...(this.#forgets ? { providerRemembersMs: MEMORY_MS } : {}),
      now: () => this.#time + this.#offset,
      monotonicNow: () => this.#time,
      timer: (run, ms) => {
        const timer = {
          at: this.#time + ms,
          run: async () => {
            if (process.dead) return;
            renewed = false;
            // Time may pass while D1 answers: the lease is one of the moment in which it was asked for.
            const ends = this.#time + LEASE_MS;
            await run();
            if (renewed) await this.#extend(process.owners, ends);
          },
        };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
      key: ({ body }) => `${this.#prefix}-${body}`,
      handler: async (_message, { key, owner }) => {
        const { end, meanwhile } = waiting.shift() ?? { end: "success", meanwhile: [] };
        if (end === "crash before the effect") process.dead = true;
        if (process.dead) return;

        process.owners.set(key, owner);
        this.#start(key, process.claimedAt + LEASE_MS);
        this.#ask(key);
        await this.run(meanwhile);
        count(end);
        if (end === "crash after the effect") process.dead = true;
        if (end === "failure" || end === "permanent failure") {
          this.#leases.delete(key);
          throw end === "failure" ? new Error("[simulated]") : new PermanentError("[simulated]");
        }
        this.#effects.set(key, (this.#effects.get(key) ?? 0) + 1);
      },
      onPermanentFailure: ({ id }, error) => {
        if (error instanceof InDoubtError) count("in doubt");
        if (process.dead) throw new Error("A dead process parks nothing");
        this.#parked.add(id);
      },
    });
    if (process.dead) return;

    for (const { outcome } of outcomes) count(outcome);
    const { explicitAcks } = await getQueueResult(batch, createExecutionContext());
    for (const id of explicitAcks) {
      const key = `${this.#prefix}-${messages.get(id)}`;
      if (!this.#parked.has(id)) this.#acked.add(key);
      this.#queue.delete(id);
    }
  }

  #start(key: string, leaseEnds: number): void {
    const alive = this.#leases.get(key);
    if (alive !== undefined) {
      count("effect again");
      if (this.#time < alive) this.wrong.push(`Two effects of ${key} while a lease is alive`);
    }
    if (this.#done.has(key)) this.wrong.push(`An effect of ${key}, which is done`);
    this.#leases.set(key, leaseEnds);
  }

  /** A handler reaches its provider when it starts: within its time, as the option asks. */
  #ask(key: string): void {
    const first = this.#asked.get(key);
    if (first === undefined) this.#asked.set(key, this.#time);
    else if (this.#forgets && this.#time > first + MEMORY_MS) {
      this.wrong.push(`${key} reached a provider that had forgotten it`);
    }
  }

  /** A renewal has reached D1: the effects of those keys that are still its own have a longer lease. */
  async #extend(owners: ReadonlyMap<string, string>, ends: number): Promise<void> {
    for (const [key, owner] of owners) {
      const row = await env.DB.prepare("SELECT owner, state FROM idempotency_keys WHERE key = ?")
        .bind(key)
        .first<{ owner: string | null; state: string }>();
      const before = this.#leases.get(key);
      if (row?.owner !== owner || row.state === "done" || before === undefined) continue;
      if (ends > before) count("renewed");
      this.#leases.set(key, Math.max(before, ends));
    }
  }

  async #checkRows(): Promise<void> {
    const { results } = await env.DB.prepare(
      "SELECT key, state, owner, result, updated_at FROM idempotency_keys WHERE key LIKE ? AND state = 'done'",
    )
      .bind(`${this.#prefix}-%`)
      .all<{ key: string }>();
    const rows = new Map(results.map((row) => [row.key, row]));
    for (const [key, before] of this.#done) {
      if (JSON.stringify(rows.get(key)) !== JSON.stringify(before))
        this.wrong.push(`${key} was done and is not`);
    }
    for (const key of this.#acked) {
      if (!rows.has(key)) this.wrong.push(`${key} was acked and is not done`);
    }
    for (const [key, row] of rows) {
      if (!this.#effects.has(key)) this.wrong.push(`${key} is done without an effect`);
      this.#done.set(key, row);
    }
  }
}

it(`holds in ${SCHEDULES} schedules of seed ${env.PROPERTY_SEED}: no effect twice while a lease is alive, none lost, done stays done, and nothing repeated at a provider that has forgotten it`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(happening(2), { minLength: 1, maxLength: 5 }),
      async (forgets, happenings) => {
        const world = new World(forgets);
        await world.run(happenings);
        await world.drain();
        expect(world.wrong).toEqual([]);
      },
    ),
    { seed: env.PROPERTY_SEED, numRuns: SCHEDULES },
  );

  const turns = [
    "success",
    "failure",
    "permanent failure",
    "crash after the effect",
    "effect again",
    "done",
    "duplicate",
    "in progress",
    "failed",
    "claim lost",
    "claim unanswered",
    "complete lost",
    "complete unanswered",
    "release lost",
    "release unanswered",
    "renewed",
    "renew lost",
    "renew unanswered",
    "in doubt",
  ];
  expect(turns.filter((turn) => (seen.get(turn) ?? 0) < SCHEDULES / 20)).toEqual([]);
}, 600_000);
