import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { instanceIdFor } from "../src/index.ts";

type Input = [prefix: string, ...parts: (string | number)[]];

const VALID = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/;

describe("instanceIdFor", () => {
  it.each<[Input, string]>([
    [["onboard"], "onboard"],
    [["onboard", "u_42"], "onboard-u_42"],
    [["order", 7, "ship"], "order-7-ship"],
    [["etl", "2026-11-29"], "etl-2026--11--29"],
    [["a", "b-c"], "a-b--c"],
    [["a-b", "c"], "a--b-c"],
    [["a", "b", "c"], "a-b-c"],
  ])("keeps safe parts readable: %j", async (input, id) => {
    expect(await instanceIdFor(...input)).toBe(id);
  });

  // printf '["onboard","ada@example.org"]' | sha256sum
  it("is stable: an id in production must not change with a release", async () => {
    expect(await instanceIdFor("onboard", "ada@example.org")).toBe(
      "onboard---eceeb9c7158f7e33d2c5f8709a9769dfa204cd0e389a6fb53050904668c9f2a5",
    );
  });

  it("uses all of the 100 characters before it hashes", async () => {
    const fits = "x".repeat(98);
    expect(await instanceIdFor("p", fits)).toBe(`p-${fits}`);
    expect(await instanceIdFor("p", `${fits}x`)).toMatch(/^p---[0-9a-f]{64}$/);
  });

  it("shortens a long prefix of the hashed form to 100 characters", async () => {
    expect(await instanceIdFor("p".repeat(500), "é")).toMatch(/^p{33}---[0-9a-f]{64}$/);
  });

  it.each<[string, Input, Input]>([
    ["where a hyphen stands", ["a", "b-c"], ["a-b", "c"]],
    ["how many parts there are", ["a", "b", "c"], ["a", "b-c"]],
    ["upper and lower case", ["a", "B"], ["a", "b"]],
    ["Unicode form", ["a", "\u00e4"], ["a", "a\u0308"]],
    ["lone surrogates", ["a", "\ud800"], ["a", "\ud801"]],
    ["a lone surrogate and the replacement character", ["a", "\ud800"], ["a", "\ufffd"]],
    ["a lone surrogate and its JSON escape", ["a", "\ud800"], ["a", "\\ud800"]],
    ["text that reads like JSON", ["a", 'b","c'], ["a", "b", "c"]],
    ["a long part's last character", ["a", "x".repeat(200)], ["a", `${"x".repeat(199)}y`]],
    ["space around", ["a", "b"], ["a", " b"]],
  ])("tells inputs apart by %s", async (_by, one, other) => {
    expect(await instanceIdFor(...one)).not.toBe(await instanceIdFor(...other));
  });

  it("takes a number for its decimal text", async () => {
    expect(await instanceIdFor("user", 1)).toBe(await instanceIdFor("user", "1"));
    expect(await instanceIdFor("user", -0)).toBe(await instanceIdFor("user", "0"));
    expect(await instanceIdFor("user", 1.5)).toBe(await instanceIdFor("user", "1.5"));
  });

  it.each<unknown>([Number.NaN, Number.POSITIVE_INFINITY, "", undefined, null, {}, [], true])(
    "refuses %o as a part: many inputs would have one id",
    async (part) => {
      const wrong = part as string;
      await expect(instanceIdFor("user", "a", wrong)).rejects.toThrow("Part 3 of an instance id");
      await expect(instanceIdFor(wrong, "a")).rejects.toThrow("Part 1 of an instance id");
    },
  );

  it("gives every short input an id of its own", async () => {
    const texts = textsOver(["a", "-"], 3).filter((text) => text !== "");
    const inputs: string[][] = texts.flatMap((a) => [
      [a],
      ...texts.flatMap((b) => [[a, b], ...texts.map((c) => [a, b, c])]),
    ]);
    const ids = await Promise.all(
      inputs.map(([prefix = "", ...parts]) => instanceIdFor(prefix, ...parts)),
    );
    expect(ids.filter((id) => !VALID.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(inputs.length);
  });

  it("never gives two inputs one id, nor an invalid one", async () => {
    await fc.assert(
      fc.asyncProperty(input, input, async (one, other) => {
        const [idOfOne, idOfOther] = await Promise.all([
          instanceIdFor(...one),
          instanceIdFor(...other),
        ]);
        expect(idOfOne).toMatch(VALID);
        expect(idOfOne === idOfOther).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { seed: env.PROPERTY_SEED, numRuns: 2000 },
    );
  });

  it("has no input that reads like the id of another", async () => {
    await fc.assert(
      fc.asyncProperty(input, fc.nat(), fc.nat(), async (one, cutA, cutB) => {
        const id = await instanceIdFor(...one);
        const forgeries = [
          [id],
          id.split("-"),
          id.split("--"),
          id.split("---"),
          cut(id, cutA),
          cut(id, cutA, cutB),
        ];
        for (const [prefix = "", ...parts] of forgeries) {
          if ([prefix, ...parts].includes("")) continue;
          const same = JSON.stringify(one) === JSON.stringify([prefix, ...parts]);
          expect((await instanceIdFor(prefix, ...parts)) === id).toBe(same);
        }
      }),
      { seed: env.PROPERTY_SEED, numRuns: 500 },
    );
  });
});

// Few and awkward characters, so that two inputs often look alike.
const text = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.string({
      unit: fc.constantFrom("a", "b", "-", "_", "---"),
      minLength: 1,
      maxLength: 4,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.string({
      unit: fc.constantFrom("a", "\ud800", "\udc00", "\ufffd", "\u00e4", "a\u0308", '"', ","),
      minLength: 1,
      maxLength: 3,
    }),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 200 }) },
);
const input: fc.Arbitrary<[string, ...string[]]> = fc
  .tuple(text, fc.array(text, { maxLength: 3 }))
  .map(([prefix, parts]) => [prefix, ...parts]);

function textsOver(alphabet: string[], maxLength: number): string[] {
  let last = [""];
  const all = [...last];
  for (let length = 1; length <= maxLength; length++) {
    last = last.flatMap((start) => alphabet.map((end) => start + end));
    all.push(...last);
  }
  return all;
}

function cut(whole: string, ...places: number[]): string[] {
  const ends = places.map((place) => place % (whole.length + 1)).toSorted((a, b) => a - b);
  return [0, ...ends].map((start, index) => whole.slice(start, ends[index]));
}
