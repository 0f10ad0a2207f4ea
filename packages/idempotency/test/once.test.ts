import { env } from "cloudflare:workers";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import {
  claim,
  completeStatement,
  FingerprintConflictError,
  InDoubtError,
  InProgressError,
  type Json,
  LeaseLostError,
  NothingHappenedError,
  once,
  type OnceOutcome,
} from "../src/index.ts";
import { overBadConnection, type Fault, type Statement } from "./fault.ts";
import { clockAt, newKey, rowOf } from "./helpers.ts";

const db = env.DB;
const leaseMs = 60_000;

/** A provider without idempotency keys: it counts every call. */
function provider() {
  let sent = 0;
  return {
    send: async () => {
      sent += 1;
      return { receipt: sent };
    },
    get sent() {
      return sent;
    },
  };
}

describe("once", () => {
  it("runs the effect the first time and gives its result ever after", async () => {
    const key = newKey();
    const mail = provider();
    expect(await once(db, key, mail.send)).toEqual({ result: { receipt: 1 }, ran: true });
    expect(await once(db, key, mail.send)).toEqual({ result: { receipt: 1 }, ran: false });
    expect(mail.sent).toBe(1);
  });

  it("hands the key and its token to the effect", async () => {
    const key = newKey();
    await once(db, key, async ({ signal, ...lease }) => {
      expect(signal.aborted).toBe(false);
      expect(lease).toEqual({ key, owner: (await rowOf(db, key))?.owner });
    });
    expect.assertions(2);
  });

  it("gives the same result the first time as later: what JSON makes of it", async () => {
    const key = newKey();
    const at = new Date(0);
    const first = await once(db, key, () => ({ at }));
    const second = await once(db, key, () => ({ at }));
    expect(first.result).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    expect(second.result).toEqual(first.result);
    // Its type says so, too: `first.result.at.getTime()` would pass a check and fail when it runs.
    expectTypeOf(first.result).toEqualTypeOf<{ at: string }>();
  });

  it("types a result as JSON gives it back", () => {
    expectTypeOf<Json<string | null>>().toEqualTypeOf<string | null>();
    expectTypeOf<Json<void>>().toEqualTypeOf<undefined>();
    expectTypeOf<Json<unknown>>().toEqualTypeOf<unknown>();
    expectTypeOf<Json<bigint>>().toEqualTypeOf<never>();
    expectTypeOf<Json<Map<string, number> | Set<1>>>().toEqualTypeOf<Record<string, never>>();
    expectTypeOf<Json<[Date, undefined, () => void]>>().toEqualTypeOf<[string, null, null]>();
    expectTypeOf<Json<readonly (Date | undefined)[]>>().toEqualTypeOf<(string | null)[]>();
    interface Order {
      readonly at: Date;
      note?: string;
      gone: undefined;
      maybe: number | undefined;
      lines: { sku: string; cancel: () => void }[];
    }
    expectTypeOf<Json<Order>>().toEqualTypeOf<{
      at: string;
      note?: string;
      maybe?: number;
      lines: { sku: string }[];
    }>();
  });

  it("takes a session of the database", async () => {
    const session = db.withSession();
    const key = newKey();
    expect(await once(session, key, () => 1)).toEqual({ result: 1, ran: true });
    expect(await once(session, key, () => 2)).toEqual({ result: 1, ran: false });
  });

  it("gives undefined for an effect that gives nothing", async () => {
    const key = newKey();
    expect(await once(db, key, () => undefined)).toEqual({ result: undefined, ran: true });
    expect(await once(db, key, () => undefined)).toEqual({ result: undefined, ran: false });
  });

  it("lets one of many at the same time run, and tells the others to come back", async () => {
    const key = newKey();
    const mail = provider();
    const refused: unknown[] = [];
    const allOthersRefused = Promise.withResolvers<void>();
    const calls = Array.from({ length: 10 }, async () => {
      try {
        await once(db, key, async () => {
          await allOthersRefused.promise;
          return mail.send();
        });
      } catch (error) {
        if (refused.push(error) === 9) allOthersRefused.resolve();
      }
    });
    await Promise.all(calls);
    expect(refused.every((error) => error instanceof InProgressError)).toBe(true);
    expect(mail.sent).toBe(1);
  });

  it("says for how long the key is taken", async () => {
    const key = newKey();
    const clock = clockAt(0);
    await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(1000);
    const error = await once(db, key, () => 1, clock).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "InProgressError", key, retryAfterMs: 59_000 });
  });

  it("holds the key for 60 seconds unless told otherwise", async () => {
    const leases = await Promise.all(
      [{}, { leaseMs: 5 }].map(async (options) => {
        const key = newKey();
        let row = null;
        await once(db, key, async () => (row = await rowOf(db, key)), options);
        return row;
      }),
    );
    expect(leases).toMatchObject([{ lease_ms: 60_000 }, { lease_ms: 5 }]);
  });

  it("refuses another payload under the same key and runs nothing", async () => {
    const key = newKey();
    const mail = provider();
    await once(db, key, mail.send, { fingerprint: "one" });
    const error = await once(db, key, mail.send, { fingerprint: "two" }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(FingerprintConflictError);
    // The record says what the key stands for, and not what came of it: that may be somebody else's.
    expect(error).toMatchObject({
      key,
      record: { key, state: "done", fingerprint: "one", tries: 1 },
    });
    expect(JSON.stringify(error)).not.toContain("receipt");
    expect(mail.sent).toBe(1);
  });

  it("runs nothing for a key that D1 cannot keep", async () => {
    const mail = provider();
    await expect(once(db, "", mail.send)).rejects.toThrow(TypeError);
    expect(mail.sent).toBe(0);
  });
});

describe("once, when something fails", () => {
  it("tells the effect's error and lets the next call run it at once", async () => {
    const key = newKey();
    const mail = provider();
    const failing = () => Promise.reject(new Error("[simulated] down"));
    await expect(once(db, key, failing)).rejects.toThrow("[simulated] down");
    expect(await once(db, key, mail.send)).toMatchObject({ ran: true });
  });

  it("takes an effect that throws before it is a promise the same way", async () => {
    const key = newKey();
    const failing = () => {
      throw new Error("[simulated] at once");
    };
    await expect(once(db, key, failing)).rejects.toThrow("[simulated] at once");
    expect(await once(db, key, () => 1)).toMatchObject({ ran: true });
  });

  it.each([
    ["a bigint", 1n, TypeError],
    ["a function", () => 1, TypeError],
    ["too much", "x".repeat(2_000_000), RangeError],
  ])("does not repeat an effect whose result is %s", async (_what, result, error) => {
    const key = newKey();
    await expect(once<unknown>(db, key, () => result)).rejects.toThrow(error);
    expect(await once<unknown>(db, key, () => "again")).toEqual({ result: undefined, ran: false });
  });

  it("says so if the effect took longer than its lease and another caller has the key", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const slow = once(
      db,
      key,
      async () => {
        clock.step(leaseMs);
        expect(await once(db, key, () => "second", clock)).toEqual({ result: "second", ran: true });
        return "first";
      },
      { now: clock.now, leaseMs },
    );
    await expect(slow).rejects.toThrow(LeaseLostError);
    expect(await once(db, key, () => "third", clock)).toEqual({ result: "second", ran: false });
  });

  it("accepts an effect that completes its key with its own rows", async () => {
    const key = newKey();
    const effect = async (lease: { key: string; owner: string }) => {
      await db.batch([completeStatement(db, [{ ...lease, result: "from the batch" }])]);
      return "from the effect";
    };
    await once(db, key, effect);
    expect(await once(db, key, effect)).toEqual({ result: "from the batch", ran: false });
  });
});

// The windows in which a crash or a lost connection can fall, each with what it costs a provider without idempotency keys.
describe("once, by crash window", () => {
  const never = new Promise<never>(() => undefined);

  it("before the claim reached D1: nothing happened, the next call runs", async () => {
    const key = newKey();
    const mail = provider();
    const cut = overBadConnection(db, () => "lost");
    await expect(once(cut, key, mail.send)).rejects.toThrow("[simulated]");
    expect(mail.sent).toBe(0);
    expect(await once(db, key, mail.send)).toMatchObject({ ran: true });
  });

  it("after the claim, its answer lost for good: no effect until the lease has ended, then one", async () => {
    const key = newKey();
    const mail = provider();
    const clock = clockAt(0);
    const cut = overBadConnection(db, () => "unanswered");
    await expect(once(cut, key, mail.send, clock)).rejects.toThrow("[simulated]");
    await expect(once(db, key, mail.send, clock)).rejects.toThrow(InProgressError);
    clock.step(leaseMs);
    await once(db, key, mail.send, clock);
    expect(mail.sent).toBe(1);
  });

  it("after the claim, its answer lost once: the second try finds the key its own", async () => {
    const key = newKey();
    const mail = provider();
    await once(overBadConnection(db, firstTime("claim", "unanswered")), key, mail.send);
    expect(mail.sent).toBe(1);
  });

  it("before the effect: no effect until the lease has ended, then one", async () => {
    const key = newKey();
    const mail = provider();
    const clock = clockAt(0);
    await claim(db, [{ key }], { leaseMs, now: clock.now });
    await expect(once(db, key, mail.send, clock)).rejects.toThrow(InProgressError);
    clock.step(leaseMs);
    await once(db, key, mail.send, clock);
    expect(mail.sent).toBe(1);
  });

  it("after the effect, before its completion: the open window, two effects", async () => {
    const key = newKey();
    const mail = provider();
    const clock = clockAt(0);
    const sent = new Promise<void>((resolve) => {
      void once(
        db,
        key,
        () =>
          mail
            .send()
            .then(() => resolve())
            .then(() => never),
        clock,
      );
    });
    await sent;
    await expect(once(db, key, mail.send, clock)).rejects.toThrow(InProgressError);
    clock.step(leaseMs);
    await once(db, key, mail.send, clock);
    expect(mail.sent).toBe(2);
  });

  it("after the effect, before its completion: the provider's key closes the window", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const receipts = new Map<string, number>();
    const charge = (idempotencyKey: string) => {
      const receipt = receipts.get(idempotencyKey) ?? receipts.size + 1;
      receipts.set(idempotencyKey, receipt);
      return receipt;
    };
    const charged = new Promise<void>((resolve) => {
      void once(
        db,
        key,
        (lease) => {
          charge(lease.key);
          resolve();
          return never;
        },
        clock,
      );
    });
    await charged;
    clock.step(leaseMs);
    expect(await once(db, key, (lease) => charge(lease.key), clock)).toEqual({
      result: 1,
      ran: true,
    });
    expect(receipts.size).toBe(1);
  });

  it("at the completion, sent once in vain: the second try completes", async () => {
    for (const fault of ["lost", "unanswered"] as const) {
      const key = newKey();
      const mail = provider();
      await once(overBadConnection(db, firstTime("complete", fault)), key, mail.send);
      expect(await once(db, key, mail.send)).toEqual({ result: { receipt: 1 }, ran: false });
    }
  });

  it("at the completion, its answer lost for good: it is done all the same", async () => {
    const key = newKey();
    const mail = provider();
    const cut = overBadConnection(db, always("complete", "unanswered"));
    await expect(once(cut, key, mail.send)).rejects.toThrow("[simulated]");
    expect(await once(db, key, mail.send)).toEqual({ result: { receipt: 1 }, ran: false });
  });

  it("at the completion, never received: the open window, two effects after the lease", async () => {
    const key = newKey();
    const mail = provider();
    const clock = clockAt(0);
    const cut = overBadConnection(db, always("complete", "lost"));
    await expect(once(cut, key, mail.send, clock)).rejects.toThrow("[simulated]");
    await expect(once(db, key, mail.send, clock)).rejects.toThrow(InProgressError);
    clock.step(leaseMs);
    await once(db, key, mail.send, clock);
    expect(mail.sent).toBe(2);
  });

  it("at the release: the effect's error is told, and the lease ends by itself", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const cut = overBadConnection(db, always("release", "lost"));
    const failing = () => Promise.reject(new Error("[simulated] down"));
    await expect(once(cut, key, failing, clock)).rejects.toThrow("[simulated] down");
    await expect(once(db, key, () => 1, clock)).rejects.toThrow(InProgressError);
    clock.step(leaseMs);
    expect(await once(db, key, () => 1, clock)).toMatchObject({ ran: true });
  });

  it("anywhere, if the effect is rows in this database: they are written once", async () => {
    await db.prepare("CREATE TABLE charges (key TEXT NOT NULL)").run();
    const key = newKey();
    const clock = clockAt(0);
    const write = (lease: { key: string; owner: string }) =>
      db.batch([
        db.prepare("INSERT INTO charges (key) VALUES (?)").bind(key),
        completeStatement(db, [{ ...lease, result: "written" }]),
      ]);
    // A zombie that writes after its lease, and one that dies between its write and the end.
    const zombie = once(
      db,
      key,
      async (lease) => {
        clock.step(leaseMs);
        const written = new Promise<void>((resolve) => {
          void once(
            db,
            key,
            (own) =>
              write(own)
                .then(() => resolve())
                .then(() => never),
            clock,
          );
        });
        await written;
        return write(lease);
      },
      clock,
    );
    await expect(zombie).rejects.toThrow("idempotency_lease_held");
    expect(await once(db, key, write, clock)).toEqual({ result: "written", ran: false });
    expect(await db.prepare("SELECT count(*) AS n FROM charges").first("n")).toBe(1);
  });
});

function always(statement: Statement, fault: Fault) {
  return (sent: Statement) => (sent === statement ? fault : undefined);
}

function firstTime(statement: Statement, fault: Fault) {
  let sentBefore = false;
  return (sent: Statement) => {
    if (sent !== statement || sentBefore) return undefined;
    sentBefore = true;
    return fault;
  };
}

describe("once, for longer than a lease", () => {
  it("renews the lease for as long as it may, then tells the effect that it is lost", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const states: unknown[] = [];
    const late = once(
      db,
      key,
      async ({ signal }) => {
        while (!signal.aborted) {
          await clock.pass(leaseMs / 2);
          const [asked] = await claim(db, [{ key }], { leaseMs, now: clock.now });
          states.push(asked?.state);
        }
        throw signal.reason;
      },
      { ...clock, monotonicNow: clock.now, leaseMs, renewForMs: 2 * leaseMs },
    );
    await expect(late).rejects.toThrow(LeaseLostError);
    // Renewed last at 100 s, so held until 160 s.
    expect(states).toEqual([...Array.from({ length: 5 }, () => "in progress"), "claimed"]);
    expect(clock.waiting).toBe(0);
  });

  it("without renewForMs the signal says when the lease is over", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const aborted: boolean[] = [];
    await once(
      db,
      key,
      async ({ signal }) => {
        for (const ms of [leaseMs - 1, 1]) {
          await clock.pass(ms);
          aborted.push(signal.aborted);
        }
      },
      { ...clock, monotonicNow: clock.now, leaseMs },
    );
    expect(aborted).toEqual([false, true]);
  });

  it("leaves no timer behind, whatever became of it", async () => {
    const clock = clockAt(0);
    const options = { ...clock, monotonicNow: clock.now };
    await once(db, newKey(), () => 1, options);
    const failing = () => Promise.reject(new Error("[simulated]"));
    await expect(once(db, newKey(), failing, options)).rejects.toThrow("[simulated]");
    expect(clock.waiting).toBe(0);
  });
});

describe("once, and a provider that forgets", () => {
  it("refuses to repeat what may have happened so long ago", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const mail = provider();
    const options = { now: clock.now, leaseMs, providerRemembersMs: 15 * 60_000 };
    await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(14 * 60_000 + 1);
    const error = await once(db, key, mail.send, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InDoubtError);
    expect(error).toMatchObject({ key, record: { state: "unfinished", tries: 1 } });
    expect(mail.sent).toBe(0);
    clock.step(-1);
    expect(await once(db, key, mail.send, options)).toMatchObject({ ran: true });
  });

  it("leaves room for an effect that is renewed for longer than a lease", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const options = {
      now: clock.now,
      leaseMs,
      renewForMs: 5 * leaseMs,
      providerRemembersMs: 10 * leaseMs,
    };
    await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(5 * leaseMs + 1);
    await expect(once(db, key, () => 1, options)).rejects.toThrow(InDoubtError);
    clock.step(-1);
    expect(await once(db, key, () => 1, options)).toMatchObject({ ran: true });
  });

  it("tries again what surely had no effect", async () => {
    const key = newKey();
    const options = { providerRemembersMs: 0 };
    const refused = () => Promise.reject(new NothingHappenedError("429"));
    await expect(once(db, key, refused, options)).rejects.toThrow("429");
    expect(await once(db, key, () => 1, options)).toMatchObject({ ran: true });
  });
});

it("once tells onOutcome what became of the call, and is not touched by what it throws", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const told: OnceOutcome[] = [];
  const clock = clockAt(0);
  const options = {
    monotonicNow: clock.now,
    onOutcome: (outcome: OnceOutcome) => {
      told.push(outcome);
      throw new Error("[simulated] metrics are down");
    },
  };
  const [key, failed] = [newKey(), newKey()];
  await once(db, key, () => clock.step(7), { ...options, fingerprint: "one" });
  await once(db, key, () => 1, { ...options, fingerprint: "one" });
  const conflict = once(db, key, () => 1, { ...options, fingerprint: "two" });
  await expect(conflict).rejects.toThrow(FingerprintConflictError);
  const failing = () => Promise.reject(new Error("[simulated] down"));
  await expect(once(db, failed, failing, options)).rejects.toThrow("[simulated] down");
  expect(told).toEqual([
    { key, outcome: "done", tookMs: 7 },
    { key, outcome: "duplicate" },
    { key, outcome: "refused", error: expect.any(FingerprintConflictError) },
    { key: failed, outcome: "failed", tookMs: 0, error: new Error("[simulated] down") },
  ]);
  expect(logged).toHaveBeenCalledTimes(4);
  logged.mockRestore();
});
