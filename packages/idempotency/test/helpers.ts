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
  return {
    now: () => time,
    step: (ms: number) => {
      time += ms;
    },
  };
}

/** The lease of a claim that must have succeeded. */
export function owned(held: Claim | undefined): Lease {
  if (held?.state !== "claimed") throw new Error(`The key is ${held?.state}, not claimed`);
  return { key: held.key, owner: held.owner };
}
