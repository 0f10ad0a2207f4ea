import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Disturbance, type Pair, VARIANTS } from "../src/pair.ts";
import {
  type CompareOptions,
  comparePairs,
  type Lesson,
  LessonSession,
  type PairResult,
  type Progress,
  type Selection,
} from "../src/runner/index.ts";
import { fixtureLesson, pairOf, selection } from "./fixture.ts";
import { WorkerdWatch } from "./processes.ts";

let lesson: Lesson;
beforeAll(async () => {
  lesson = await fixtureLesson();
});

/** Throws where a workerd that was started meanwhile still runs. */
function assertNoneLeft(watch: WorkerdWatch): void {
  const { left } = watch;
  watch[Symbol.dispose]();
  if (left.length > 0) throw new Error(`These workerds still run: ${left.join(", ")}`);
}

async function progressOf(selections: Selection[], options?: CompareOptions): Promise<Progress[]> {
  const watch = new WorkerdWatch();
  const progress: Progress[] = [];
  for await (const event of comparePairs(selections, options)) progress.push(event);
  assertNoneLeft(watch);
  return progress;
}

const only = <Type extends Progress["type"]>(progress: readonly Progress[], type: Type) =>
  progress.filter((event): event is Extract<Progress, { type: Type }> => event.type === type);

const resultsOf = (progress: readonly Progress[]): Record<string, PairResult> =>
  Object.fromEntries(only(progress, "pair-compared").map(({ result }) => [result.pair.id, result]));

/** What is not as expected, by side. */
const differencesOf = (result: PairResult | undefined) =>
  VARIANTS.map((variant) => result?.variants[variant].differences);

/** The pair with the sides of its expectation swapped: its pitfall looks like a fix. */
const swapped = (pair: Pair): Pair => ({
  ...pair,
  expect: { pitfall: pair.expect.fix, fix: pair.expect.pitfall },
});

/** A pair of the fixture with another disturbance. */
const disturbedBy = (id: string, disturb: Disturbance) =>
  ({ ...pairOf(lesson, id), disturb }) as Pair;

// A start takes seconds: the tests below look at different parts of three comparisons.

describe("all pairs of the fixture at once", () => {
  let progress: Progress[];
  beforeAll(async () => {
    progress = await progressOf(await selection(...lesson.pairs));
  });

  test("are as expected, with one crash for all of them, and every run goes through its phases in order", () => {
    const results = only(progress, "pair-compared").map(({ result }) => result);
    expect(results.map(({ pair }) => pair.id)).toEqual(lesson.pairs.map(({ id }) => id));
    expect(results.filter(({ ok }) => !ok)).toEqual([]);

    const doomed = lesson.pairs.filter(({ disturb }) => disturb && "crash" in disturb);
    const crashes = only(progress, "crashed");
    expect(crashes).toEqual([
      {
        type: "crashed",
        lesson: "99-fixture",
        pairs: doomed.map(({ id }) => id),
        pidBefore: only(progress, "ready")[0]?.pid,
        pidAfter: expect.any(Number),
        signal: "SIGKILL",
        at: expect.any(Number),
        upAt: expect.any(Number),
      },
    ]);
    expect(crashes[0]?.pidAfter).not.toBe(crashes[0]?.pidBefore);

    // What is told of one run, with what is told of the whole lesson between.
    const phases = (pair: string, variant: string) =>
      progress
        .filter(
          (event) => !("variant" in event) || (event.pair === pair && event.variant === variant),
        )
        .filter((event) => event.type !== "pair-compared" || event.result.pair.id === pair)
        .map(({ type }) => type);
    for (const { id, disturb } of lesson.pairs) {
      const whole = ["starting", "ready", "run-started"];
      const story =
        disturb && "crash" in disturb
          ? ["crash-point", "crashed", "run-woken", "run-ended"]
          : disturb && !("deliver" in disturb) && !("outage" in disturb)
            ? ["run-disturbed", "run-ended", "crashed"]
            : ["run-ended", "crashed"];
      for (const variant of VARIANTS) {
        expect(phases(id, variant), `${id}, ${variant}`).toEqual([
          ...whole,
          ...story,
          "pair-compared",
        ]);
      }
    }

    const runs = only(progress, "run-started").map(({ run }) => run);
    expect(new Set(runs).size).toBe(2 * lesson.pairs.length);
  });

  test("a side that is expected to wait for ever is judged, and ended, once the other side is over", () => {
    const name = "wait-without-an-end";
    expect(resultsOf(progress)[name]).toMatchObject({
      ok: true,
      variants: {
        pitfall: { status: "waiting", evidence: { status: "waiting", "email.sent": 1 } },
        fix: { status: "complete" },
      },
    });
    const ends = only(progress, "run-ended").filter(({ pair }) => pair === name);
    expect(ends.map(({ variant, result }) => [variant, result.status])).toEqual([
      ["fix", "complete"],
      ["pitfall", "waiting"],
    ]);
  });
});

describe("pairs that are not as they claim", () => {
  const swappedIds = ["crash-during-a-step", "message-twice", "request-twice"];
  const runTimeoutMs = 15_000;
  let progress: Progress[];
  let results: Record<string, PairResult>;
  beforeAll(async () => {
    const endless = pairOf(lesson, "wait-without-an-end");
    const wait = { ...endless.expect.pitfall, status: "waiting" } as const;
    const selections = await selection(
      ...swappedIds.map((id) => swapped(pairOf(lesson, id))),
      "restart-from-a-step",
      // The Worker runs what it always runs: this one's fix times out by itself.
      { ...endless, expect: { pitfall: { ...wait, status: "complete" }, fix: wait } },
      { ...pairOf(lesson, "many-steps"), expect: { pitfall: wait, fix: { "email.sent": 1 } } },
      disturbedBy("event-twice", { sendEvent: { type: "no-such-event" } }),
    );
    progress = await progressOf(selections, { runTimeoutMs });
    results = resultsOf(progress);
  });

  test("go red where a pitfall is no pitfall any more: every difference names kind, expected and seen", () => {
    expect(results["restart-from-a-step"]?.ok).toBe(true);
    for (const id of swappedIds) {
      const { ok, variants } = results[id] ?? {};
      expect({ id, ok, pitfall: variants?.pitfall.ok, fix: variants?.fix.ok }).toEqual({
        id,
        ok: false,
        pitfall: false,
        fix: false,
      });
    }
    expect(differencesOf(results["crash-during-a-step"])).toEqual([
      [{ kind: "email.sent", expected: 1, seen: 2 }],
      [{ kind: "email.sent", expected: 2, seen: 1 }],
    ]);
    expect(differencesOf(results["message-twice"])).toEqual([
      [{ kind: "email.sent", expected: 1, seen: 2 }],
      [{ kind: "email.sent", expected: 2, seen: 1 }],
    ]);
    expect(differencesOf(results["request-twice"])).toEqual([
      [
        { kind: "email.sent", expected: 1, seen: 2 },
        { kind: "workflow.created", expected: 1, seen: 2 },
        { kind: "output.responses.1.status", expected: 200, seen: 202 },
      ],
      [
        { kind: "email.sent", expected: 2, seen: 1 },
        { kind: "workflow.created", expected: 2, seen: 1 },
        { kind: "output.responses.1.status", expected: 202, seen: 200 },
      ],
    ]);
  });

  test("go red where a side that is expected to wait for ever comes to an end", () => {
    const { "wait-without-an-end": swappedSides, "many-steps": noWait } = results;
    expect(swappedSides?.variants).toMatchObject({
      pitfall: { status: "timed out", ok: false },
      fix: { status: "complete", ok: false },
    });
    expect(noWait?.variants.pitfall).toMatchObject({
      ok: false,
      error: "ended with status complete, without a wait for an event",
    });
    expect(noWait?.variants.fix.ok).toBe(true);
  });

  test("time out, and name what they waited for", () => {
    for (const variant of VARIANTS) {
      expect(results["event-twice"]?.variants[variant]).toMatchObject({
        status: "timed out",
        error: `timed out after ${runTimeoutMs} ms, waiting for a wait for "no-such-event"`,
        ok: false,
        differences: expect.arrayContaining([
          { kind: "status", expected: "complete", seen: "timed out" },
        ]),
      });
    }
    const ends = only(progress, "run-ended").filter(({ pair }) => pair === "event-twice");
    expect(ends).toHaveLength(2);
    expect(only(progress, "crashed")).toMatchObject([{ pairs: ["crash-during-a-step"] }]);
    expect(progress.at(-1)?.type).toBe("pair-compared");
  });
});

describe("a pair that goes wrong", () => {
  let progress: Progress[];
  let results: Record<string, PairResult>;
  let ofBroken: PairResult[];
  beforeAll(async () => {
    const noSuchStep = { crash: { after: "no such step" } };
    const [during, mail] = [{ crash: { during: "ship" } }, { crash: { during: "mail.send" } }];
    const broken = {
      lesson: { ...lesson, id: "98-broken", dir: `${lesson.dir}/src` },
      pairs: lesson.pairs,
      broken: [],
    };
    const selected = await selection(
      { ...pairOf(lesson, "crash-during-a-step"), id: "no-such-pair" },
      // They have no fault that hangs.
      disturbedBy("restart-from-a-step", during),
      disturbedBy("restart-from-the-beginning", noSuchStep),
      disturbedBy("message-twice", mail),
      // They have, but in another call.
      disturbedBy("crash-after-an-effect", mail),
      disturbedBy("crash-during-a-step", { crash: { during: "no such step" } }),
      "crash-in-a-consumer",
      "crash-after-a-step",
      "request-twice",
    );
    progress = await progressOf([broken, ...selected]);
    ofBroken = only(progress, "pair-compared")
      .map(({ result }) => result)
      .filter((result) => result.lesson === "98-broken");
    progress = progress.filter((event) => event.lesson !== "98-broken");
    results = resultsOf(progress);
  });

  test("fails alone where it never reaches its crash point, or cannot start, and says why", () => {
    const ends = (id: string) =>
      VARIANTS.map((variant) => {
        const { ok, status, error } = results[id]?.variants[variant] ?? {};
        return { ok, status, error };
      });
    const failed = (error: unknown) => ({ ok: false, status: "failed", error });

    expect(ends("no-such-pair")).toEqual(
      [1, 2].map(() => failed(expect.stringMatching(/no-such-pair\/pair\.ts.*Could not resolve/))),
    );
    expect(ends("restart-from-a-step")).toEqual(
      [1, 2].map(() => failed("ended with status errored before its crash point (ship)")),
    );
    expect(ends("restart-from-the-beginning")).toEqual(
      [1, 2].map(() => failed('ended with status errored, without step "no such step"')),
    );
    expect(ends("message-twice")).toEqual(
      [1, 2].map(() => failed("ended with status complete before its crash point (mail.send)")),
    );
    expect(ends("crash-after-an-effect")).toEqual(
      [1, 2].map(() => failed("hangs in accounts.open, not in mail.send")),
    );
    expect(results["crash-in-a-consumer"]?.ok).toBe(true);
    expect(results["request-twice"]?.ok).toBe(true);
    const crashed = ["crash-in-a-consumer", "crash-after-a-step"];
    expect(only(progress, "crashed")).toMatchObject([{ pairs: crashed }]);
    expect(new Set(only(progress, "crash-point").map(({ pair }) => pair))).toEqual(
      new Set(crashed),
    );
    expect(only(progress, "run-ended")).toHaveLength(18);
  });

  test("does not wait for a step that it never reaches, since it hangs in another one", () => {
    for (const variant of VARIANTS) {
      expect(results["crash-during-a-step"]?.variants[variant]).toMatchObject({
        status: "failed",
        error: 'never reached step "no such step": it hangs in accounts.open',
        ok: false,
      });
    }
    expect(results["crash-after-a-step"]?.ok).toBe(true);
  });

  test("fails where its lesson cannot start, and says why; the next lesson is run all the same", () => {
    expect(ofBroken.map(({ pair }) => pair.id)).toEqual(lesson.pairs.map(({ id }) => id));
    for (const { variants, ok } of ofBroken) {
      expect(ok).toBe(false);
      expect(variants.fix).toMatchObject({
        status: "failed",
        error: expect.stringContaining("There is no wrangler.jsonc in"),
        ok: false,
      });
    }
    expect(results["request-twice"]?.ok).toBe(true);
  });
});

test("two runs of the same pairs at once on one runtime keep their evidence apart", async () => {
  const noCrash = lesson.pairs.filter(({ disturb }) => !disturb || !("crash" in disturb));
  const calm = (["workflow", "queue", "http"] as const).flatMap((engine) =>
    noCrash.filter((pair) => pair.engine === engine).slice(0, 2),
  );
  const watch = new WorkerdWatch();
  const session = new LessonSession(lesson, { pairs: calm, isWatched: false });
  const all = async () => {
    const progress: Progress[] = [];
    const follow = async (pair: Pair) => {
      for await (const event of session.run(pair)) progress.push(event);
    };
    await Promise.all(calm.map(follow));
    return progress;
  };
  try {
    const both = await Promise.all([all(), all()]);
    for (const progress of both) {
      const results = only(progress, "pair-compared").map(({ result }) => result);
      expect(results.map(({ pair }) => pair.id).toSorted()).toEqual(
        calm.map(({ id }) => id).toSorted(),
      );
      expect(results.filter(({ ok }) => !ok)).toEqual([]);
    }
    const runs = both.flatMap((progress) => only(progress, "run-started").map(({ run }) => run));
    expect(new Set(runs).size).toBe(4 * calm.length);
  } finally {
    await session.close();
  }
  assertNoneLeft(watch);
});

describe("a comparison that is left", () => {
  let watch: WorkerdWatch;
  beforeEach(() => {
    watch = new WorkerdWatch();
  });
  afterEach(() => assertNoneLeft(watch));

  test("by its consumer does not go on: every process has ended when the loop is over", async () => {
    const waiting = disturbedBy("event-twice", { sendEvent: { type: "no-such-event" } });
    for await (const { type } of comparePairs(await selection(waiting))) {
      if (type === "run-started") break;
    }
    expect(watch.pids.length).toBeGreaterThan(0);
    expect(watch.left).toEqual([]);
  });

  test("before its first event has started nothing", async () => {
    const iterator = comparePairs(await selection(...lesson.pairs));
    await iterator.return();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(watch.pids).toEqual([]);
  });

  test.each(["starting", "run-started", "crash-point", "crashed"] as const)(
    "by its signal, after %s, throws the signal's reason and has ended every process",
    async (last) => {
      const stop = new AbortController();
      const progress: Progress[] = [];
      const compare = async () => {
        const options = { signal: stop.signal };
        for await (const event of comparePairs(await selection("crash-during-a-step"), options)) {
          progress.push(event);
          if (event.type === last) stop.abort(new Error("that is enough"));
        }
      };
      await expect(compare()).rejects.toThrow("that is enough");
      expect(watch.pids.length).toBeGreaterThan(0);
      expect(watch.left).toEqual([]);
      const types = progress.map(({ type }) => type);
      expect(types.slice(types.indexOf(last)).filter((type) => type !== last)).toEqual([]);
    },
  );

  test("by its signal does not wait for an event that never comes", async () => {
    const stop = new AbortController();
    const compare = async () => {
      for await (const { type } of comparePairs(
        await selection(disturbedBy("event-twice", { sendEvent: { type: "no-such-event" } })),
        { signal: stop.signal, runTimeoutMs: 3_600_000 },
      )) {
        if (type === "run-started") stop.abort(new Error("that is enough"));
      }
    };
    await expect(compare()).rejects.toThrow("that is enough");
  });

  test("by a signal that was aborted before has started nothing", async () => {
    const options = { signal: AbortSignal.abort(new Error("that is enough")) };
    await expect(progressOf(await selection("message-twice"), options)).rejects.toThrow(
      "that is enough",
    );
    expect(watch.pids).toEqual([]);
  });
});
