import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  backoffSeconds,
  fingerprintOf,
  keyFor,
  MAX_KEY_LENGTH,
  queueSettings,
  stepKey,
} from "../src/index.ts";
import { checkKey } from "../src/key.ts";

describe("backoffSeconds", () => {
  const longest = { random: () => 0 };
  const shortest = { random: () => 1 - Number.EPSILON };

  it("doubles from the base up to the cap", () => {
    const delays = [1, 2, 3, 4, 5, 6].map((attempts) =>
      backoffSeconds(attempts, { baseSeconds: 10, maxSeconds: 200, ...longest }),
    );
    expect(delays).toEqual([10, 20, 40, 80, 160, 200]);
  });

  it("starts at 10 seconds and ends at an hour unless told otherwise", () => {
    expect(backoffSeconds(1, longest)).toBe(10);
    expect(backoffSeconds(1000, longest)).toBe(3600);
  });

  it("is spread between a half and the whole", () => {
    expect(backoffSeconds(4, shortest)).toBe(41);
    const delays = Array.from({ length: 200 }, () => backoffSeconds(8));
    expect(new Set(delays).size).toBeGreaterThan(50);
  });

  it("is a whole number of seconds that a queue takes, for every input", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.integer({ min: 1 }),
          fc.constantFrom(1, 2 ** 53, Number.MAX_VALUE, Number.POSITIVE_INFINITY),
        ),
        fc.double({ min: 0.001, noNaN: true }),
        fc.double({ min: 1, max: 86_400, noNaN: true }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempts, baseSeconds, maxSeconds, random) => {
          const delay = backoffSeconds(attempts, { baseSeconds, maxSeconds, random: () => random });
          expect(Number.isInteger(delay)).toBe(true);
          expect(delay).toBeGreaterThanOrEqual(1);
          expect(delay).toBeLessThanOrEqual(Math.ceil(maxSeconds));
        },
      ),
      { seed: env.PROPERTY_SEED, numRuns: 2000 },
    );
  });

  it.each([
    [0, {}],
    [Number.NaN, {}],
    [1, { baseSeconds: 0 }],
    [1, { baseSeconds: Number.NaN }],
    [1, { maxSeconds: 86_401 }],
    [1, { maxSeconds: 0 }],
    [1, { maxSeconds: Number.NaN }],
  ])("refuses %d attempts with %o", (attempts, options) => {
    expect(() => backoffSeconds(attempts, options)).toThrow(RangeError);
  });
});

describe("checkKey", () => {
  it("accepts what D1 keeps as it is", () => {
    for (const key of ["a", "ä 👍", "x".repeat(MAX_KEY_LENGTH)]) expect(checkKey(key)).toBe(key);
  });

  it.each(["", "x".repeat(MAX_KEY_LENGTH + 1), "\ud800", "a\udc00"])("refuses %j", (key) => {
    expect(() => checkKey(key)).toThrow(TypeError);
  });

  // What a message lacks, whatever its type says.
  const body = JSON.parse('{ "userId": null, "n": {} }');
  it.each([
    `welcome:${JSON.parse("{}").userId}`,
    `welcome:${body.userId}:mail`,
    `${JSON.parse("{}").tenant}/welcome`,
    `welcome:${Number("x")}`,
    `welcome:${body.n}`,
    `welcome-${JSON.parse("{}").userId}`,
    `welcome:`,
    "undefined",
  ])("refuses %j, made of a field that is not there", (key) => {
    expect(() => checkKey(key)).toThrow(/lacks a part: make it with keyFor/);
  });

  it("takes words that only begin like that", () => {
    for (const key of [
      "article:undefined-behaviour",
      "user:nullable",
      "https://example.org/",
      "a:b::c",
    ]) {
      expect(checkKey(key)).toBe(key);
    }
  });
});

describe("keyFor", () => {
  it("joins its parts", () => {
    expect(keyFor("welcome", "u_42")).toBe("welcome:u_42");
    expect(keyFor("acme", "refund", "order 7", 2)).toBe("acme:refund:order%207:2");
  });

  it.each<[unknown, string]>([
    [undefined, "undefined"],
    [null, "null"],
    ["", "empty"],
    [Number.NaN, "NaN"],
    [{ toString: 1 }, "an object"],
    [true, "true"],
  ])("refuses %o as a part, and says which", (part, seen) => {
    const wrong = part as string;
    expect(() => keyFor("welcome", "a", wrong)).toThrow(
      `Part 3 of an idempotency key must be text that is not empty, or a finite number: it is ${seen}`,
    );
    expect(() => keyFor(wrong)).toThrow(`Part 1 of an idempotency key must be`);
  });

  it("refuses what would make too long a key, or none that D1 can keep", () => {
    expect(() => keyFor("welcome", "ä".repeat(100))).toThrow(/hash it$/);
    expect(() => keyFor("welcome", "\ud800")).toThrow(
      "Part 2 of an idempotency key must be well-formed",
    );
  });

  it("gives every list of parts a key of its own, which claim takes", () => {
    const part = fc.oneof(
      fc.constantFrom(
        "undefined",
        "null",
        "NaN",
        "[object Object]",
        "a-undefined",
        "%75ndefined",
        "a:",
        ":",
      ),
      fc.string({
        unit: fc.constantFrom("a", ":", "/", "%", "7", "5", "-", "null"),
        minLength: 1,
        maxLength: 5,
      }),
    );
    const parts = fc.tuple(part, fc.array(part, { maxLength: 2 }));
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const [key, otherKey] = [one, other].map(([first, rest]) => keyFor(first, ...rest));
        expect(checkKey(key ?? "")).toBe(key);
        expect(key === otherKey).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { seed: env.PROPERTY_SEED, numRuns: 3000 },
    );
  });
});

describe("fingerprintOf", () => {
  it("is the SHA-256 of the payload as JSON with sorted members", async () => {
    // printf '{"a":[1,{"c":3,"d":4}],"b":2}' | sha256sum
    expect(await fingerprintOf({ b: 2, a: [1, { d: 4, c: 3 }] })).toBe(
      "b90ecf34c980b7ce791e11520e8f83c0c20ddbc78be1ff95bd85fb7708edb05a",
    );
  });

  it.each<[string, unknown, unknown]>([
    ["a value", { a: 1 }, { a: 2 }],
    ["a type", { a: 1 }, { a: "1" }],
    ["the order of a list", [1, 2], [2, 1]],
    ["an empty list and an empty object", [], {}],
    ["a member that is null", { a: null }, {}],
    ["a member called __proto__", JSON.parse('{"__proto__":1}'), {}],
    ["lone surrogates", "\ud800", "\ud801"],
    ["Unicode form", "\u00e4", "a\u0308"],
  ])("tells payloads apart by %s", async (_by, one, other) => {
    expect(await fingerprintOf(one)).not.toBe(await fingerprintOf(other));
  });

  it("takes for equal what is equal as JSON", async () => {
    expect(await fingerprintOf({ at: new Date(0), b: undefined })).toBe(
      await fingerprintOf({ at: "1970-01-01T00:00:00.000Z" }),
    );
  });

  it("refuses what JSON cannot hold", async () => {
    await expect(fingerprintOf(undefined)).rejects.toThrow(TypeError);
    await expect(fingerprintOf(1n)).rejects.toThrow(TypeError);
  });
});

describe("stepKey", () => {
  const event = { workflowName: "order", instanceId: "o_1" };
  const ctx = (name: string, count = 1) => ({ step: { name, count } });

  it("names the Workflow, the instance, the step and its count", () => {
    expect(stepKey(event, ctx("charge card"))).toBe("order:o_1:charge%20card:1");
    expect(stepKey(event, ctx("charge card", 2))).toBe("order:o_1:charge%20card:2");
  });

  it("refuses a context that is none", () => {
    expect(() => stepKey(event, ctx(JSON.parse("{}").name))).toThrow("Part 3 of a step's key");
    expect(() => stepKey(JSON.parse("{}"), ctx("charge"))).toThrow("Part 1 of a step's key");
  });

  it("is the same for every attempt", () => {
    const attempts = [1, 2].map((attempt) => {
      const withAttempt = { ...ctx("charge"), attempt };
      return stepKey(event, withAttempt);
    });
    expect(attempts[0]).toBe(attempts[1]);
  });

  it("is fit for an HTTP header and never that of another step", () => {
    const name = fc.string({
      unit: fc.constantFrom("a", "b", ":", "1", "%", "3A", "ä", " ", "\n"),
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(name, name, name, name, (oneId, oneStep, otherId, otherStep) => {
        const one = stepKey({ workflowName: "w", instanceId: oneId }, ctx(oneStep));
        const other = stepKey({ workflowName: "w", instanceId: otherId }, ctx(otherStep));
        expect(one).toMatch(/^[\x21-\x7e]+$/);
        expect(one === other).toBe(oneId === otherId && oneStep === otherStep);
      }),
      { seed: env.PROPERTY_SEED, numRuns: 2000 },
    );
  });
});

describe("queueSettings", () => {
  it("waits for a dead consumer's lease, and has deliveries to spare for a live one", () => {
    expect(queueSettings()).toEqual({ max_batch_size: 10, max_retries: 4, retry_delay: 60 });
    expect(queueSettings({ tries: 3 })).toEqual({
      max_batch_size: 10,
      max_retries: 3,
      retry_delay: 60,
    });
    // Five rounds of 30 s, and a waiting delivery waits at least 10 s.
    expect(
      queueSettings({ leaseMs: 15_000, handlerTimeoutMs: 30_000, max_batch_size: 100 }),
    ).toEqual({
      max_batch_size: 100,
      max_retries: 18,
      retry_delay: 15,
    });
    expect(queueSettings({ leaseMs: 1 }).retry_delay).toBe(1);
  });

  it.each([
    [{ tries: 0 }, /^tries must be/],
    [{ max_batch_size: 101 }, /^max_batch_size must be/],
    [{ leaseMs: 0 }, /^leaseMs must be/],
    [{ tries: 101 }, /more than 100 retries: make leaseMs longer/],
    [
      { max_batch_size: 100, concurrency: 1 },
      "max_batch_size: 100 handlers, 1 at a time, may take 3000000 ms, and batchTimeoutMs is 840000",
    ],
  ])("refuses %o", (options, message) => {
    expect(() => queueSettings(options)).toThrow(message);
  });
});
