/** SIGKILL during every call to the outside world, before and after its effect, and during both waits. */
import type { LessonRuntime } from "@durable-lessons/lab/runner";
import type { Operation } from "@durable-lessons/outside-world";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { clientOf, PUBLISHED, startLesson } from "./helpers.ts";
import { EVENTS } from "../../src/events.ts";
import type { DraftRequest } from "../../src/schemas.ts";

const HANGS = ["hang", "hang-after-effect"] as const;
const crashes = (...operations: Operation[]) =>
  operations.flatMap((operation) => HANGS.map((fault) => ({ operation, fault })));

let runtime: LessonRuntime;
let lesson: ReturnType<typeof clientOf>;

/** A runtime for the tests of a suite, with these times. */
function useLesson(vars: Record<string, number>) {
  beforeAll(async () => {
    runtime = await startLesson(vars);
    lesson = clientOf(runtime);
  });
  afterAll(() => runtime.close());
}

/** Kills the runtime once these drafts hang, and wakes them. */
async function crashWhenHanging(drafts: DraftRequest[]) {
  const draftIds = drafts.map(({ draftId }) => draftId);
  await vi.waitUntil(async () => {
    const hangs = await lesson.hangs();
    return draftIds.every((draftId) => hangs.get(draftId) === 1);
  }, PATIENTLY);
  expect((await runtime.crash()).signal).toBe("SIGKILL");
  await Promise.all(draftIds.map((draftId) => lesson.wake(draftId)));
}

/** Kills the runtime in a wait for an event of this type, clicks, and counts what the draft did. */
async function clickAfterCrash(type: string) {
  const { draftId } = await lesson.request();
  const link = await lesson.mailedLink(draftId);
  await lesson.untilWaiting(draftId, type);
  expect((await runtime.crash()).signal).toBe("SIGKILL");
  expect(await lesson.decide(link)).toBe(200);
  await lesson.untilRow(draftId, ({ state }) => state === "published");
  return lesson.evidence(draftId);
}

describe("where the reviewer has time", () => {
  useLesson({ REMIND_AFTER_SECONDS: 600, CLOSE_AFTER_SECONDS: 600 });

  test("a killed draft is written, mailed and published once", async () => {
    const drafts = await Promise.all(
      crashes("model.run", "mail.send", "site.publish").map(async ({ operation, fault }) => ({
        operation,
        ...(await lesson.request({ [operation]: [fault] })),
      })),
    );
    const approve = async (draftId: string) =>
      expect(await lesson.decide(await lesson.mailedLink(draftId))).toBe(200);
    const [late, early] = [
      drafts.filter(({ operation }) => operation === "site.publish"),
      drafts.filter(({ operation }) => operation !== "site.publish"),
    ];
    await Promise.all(late.map(({ draftId }) => approve(draftId)));
    await crashWhenHanging(drafts);
    await Promise.all(early.map(({ draftId }) => approve(draftId)));

    for (const { draftId, operation } of drafts) {
      const { text } = await lesson.untilRow(draftId, ({ state }) => state === "published");
      expect({ operation, ...(await lesson.evidence(draftId)) }).toEqual({
        operation,
        ...PUBLISHED,
      });
      expect(await lesson.article(draftId)).toBe(text);
    }
  });

  test("a draft that is killed in its first wait still hears the click", async () => {
    expect(await clickAfterCrash(EVENTS.draftReview)).toEqual(PUBLISHED);
  });
});

describe("where the reminder comes at once", () => {
  useLesson({ REMIND_AFTER_SECONDS: 1, CLOSE_AFTER_SECONDS: 600 });

  test("a draft that is killed in its second wait still hears the click", async () => {
    const effects = await clickAfterCrash(EVENTS.draftReviewReminded);
    expect(effects).toEqual({ ...PUBLISHED, "reminder.sent": 1 });
  });
});

describe("where the end comes at once", () => {
  useLesson({ REMIND_AFTER_SECONDS: 1, CLOSE_AFTER_SECONDS: 1 });

  test("a killed draft that nobody answers is reminded of once, and closed", async () => {
    const drafts = await Promise.all(
      crashes("model.run", "mail.send", "mail.remind").map(({ operation, fault }) =>
        lesson.request({ [operation]: [fault] }),
      ),
    );
    await crashWhenHanging(drafts);
    for (const { draftId } of drafts) {
      await lesson.untilRow(draftId, ({ state }) => state === "closed");
      expect(await lesson.evidence(draftId)).toEqual({
        "email.sent": 1,
        "model.called": 1,
        "reminder.sent": 1,
      });
    }
  });
});
