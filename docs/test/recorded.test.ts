import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { VARIANTS } from "@durable-lessons/lab";
import { compareEvidence } from "@durable-lessons/lab/evidence";
import { readLessons } from "@durable-lessons/lab/runner";
import { describe, expect, test } from "vitest";
import { readRecording } from "../.vitepress/lab/pair-pages.ts";
import { timelineOf } from "../.vitepress/theme/timeline.ts";

const docs = join(import.meta.dirname, "..");
// A lesson without its text is not on the site yet.
const lessons = (await readLessons(join(docs, "..", "apps"))).filter(({ id }) =>
  existsSync(join(docs, "lessons", `${id}.md`)),
);
const HINT = "run `pnpm --filter @durable-lessons/docs record`";

test("every lesson is recorded, and nothing else", async () => {
  const files = await readdir(join(docs, "recorded"));
  expect(files.toSorted(), HINT).toEqual([
    ...lessons.map(({ id }) => `${id}.json`),
    // Held by a test of its own.
    "gauntlet",
  ]);
});

describe.each(lessons)("what is recorded of $id", async ({ id, pairs }) => {
  const recording = await readRecording(docs, id);
  const recorded = recording?.pairs ?? [];

  test("has every pair once, in order", () => {
    expect(
      recorded.map(({ pair }) => pair),
      HINT,
    ).toEqual(pairs.map((pair) => pair.id));
  });

  test.each(pairs)("$id says what its pair says now", (pair) => {
    const { title, claim, disturb } = recorded.find((entry) => entry.pair === pair.id) ?? {};
    expect({ title, claim, disturb }, HINT).toEqual({
      title: pair.title,
      claim: pair.claim,
      disturb: pair.disturb ?? null,
    });
  });

  test.each(pairs)("$id shows what its pair expects", (pair) => {
    const entry = recorded.find((candidate) => candidate.pair === pair.id);
    for (const variant of VARIANTS) {
      const { status = "none", evidence = {}, ok } = entry?.variants[variant] ?? {};
      const { status: _, ...counted } = evidence;
      const { differences } = compareEvidence(pair.expect[variant], {
        status,
        output: null,
        // What was recorded of output and observations stands among the evidence, and so does a status that counts.
        evidence: counted as Record<string, number>,
        observations: {},
      });
      expect({ variant, differences, ok }, HINT).toEqual({ variant, differences: [], ok: true });
    }
  });

  test.each(pairs)("$id has a timeline, with its crash where it has one", (pair) => {
    const entry = recorded.find((candidate) => candidate.pair === pair.id);
    const timeline = entry && timelineOf(entry.trace);
    for (const variant of VARIANTS) expect(timeline?.rows[variant].length).toBeGreaterThan(0);
    expect(Boolean(timeline?.crash)).toBe(Boolean(pair.disturb && "crash" in pair.disturb));
  });

  test("says when it was recorded and with what", () => {
    expect(recording?.recorded).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(recording?.wrangler).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
