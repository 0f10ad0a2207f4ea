import type { Claim, Lease } from "../src/index.ts";

export interface Row {
  key: string;
  state: string;
  owner: string | null;
  lease_ms: number;
  lease_expires_at: number;
  fingerprint: string | null;
  result: string | null;
  created_at: number;
  updated_at: number;
  tries: number;
  delete_at: number;
}

export function newKey(): string {
  return crypto.randomUUID();
}

export function rowOf(db: D1Database, key: string): Promise<Row | null> {
  return db.prepare("SELECT * FROM idempotency_keys WHERE key = ?").bind(key).first<Row>();
}

/** A clock that stands still until it is set. */
export function clockAt(start: number) {
  let time = start;
  const timers = new Set<{ at: number; run: () => Promise<void> }>();
  return {
    now: () => time,
    step: (ms: number) => {
      time += ms;
    },
    /** Waits on this clock, instead of `setTimeout`. */
    timer: (run: () => Promise<void>, ms: number) => {
      const timer = { at: time + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    /** Lets time pass, and what waits for it run. */
    pass: async (ms: number) => {
      const end = time + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        time = Math.max(time, next.at);
        await next.run();
      }
      time = end;
    },
    get waiting() {
      return timers.size;
    },
  };
}

/** The lease of a claim that must have succeeded. */
export function owned(held: Claim | undefined): Lease {
  if (held?.state !== "claimed") throw new Error(`The key is ${held?.state}, not claimed`);
  return { key: held.key, owner: held.owner };
}
