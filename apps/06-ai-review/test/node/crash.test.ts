/** SIGKILL during every call to the outside world, before and after its effect, and during both waits. */
import type { LessonRuntime } from "@durable-lessons/lab/runner";
import type { Operation } from "@durable-lessons/outside-world";
import { afterEach, expect, test, vi } from "vitest";
import { EVENTS } from "../../src/events.ts";
import { clientOf, PATIENTLY, PUBLISHED, startLesson } from "./helpers.ts";

const HANGS = ["hang", "hang-after-effect"] as const;
const crashes = (...operations: Operation[]) =>
  operations.flatMap((operation) => HANGS.map((fault) => ({ operation, fault })));

let runtime: LessonRuntime;
afterEach(() => runtime.close());

async function begin(vars: Record<string, number>) {
  runtime = await startLesson(vars);
  return clientOf(runtime);
}

/** Kills the runtime once these drafts hang, and wakes them. */
async function crashWhenHanging(lesson: ReturnType<typeof clientOf>, draftIds: string[]) {
  await vi.waitUntil(async () => {
    const hangs = await lesson.hangs();
    return draftIds.every((draftId) => hangs.get(draftId) === 1);
  }, PATIENTLY);
  expect((await runtime.crash()).signal).toBe("SIGKILL");
  await Promise.all(draftIds.map((draftId) => lesson.wake(draftId)));
}

test("a killed draft is written, mailed and published once", async () => {
  const lesson = await begin({ REMIND_AFTER_SECONDS: 600 });
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
  await crashWhenHanging(
    lesson,
    drafts.map(({ draftId }) => draftId),
  );
  await Promise.all(early.map(({ draftId }) => approve(draftId)));

  for (const { draftId, operation } of drafts) {
    const { text } = await lesson.untilRow(draftId, ({ state }) => state === "published");
    expect({ operation, ...(await lesson.evidence(draftId)) }).toEqual({ operation, ...PUBLISHED });
    expect(await lesson.article(draftId)).toBe(text);
  }
});

test("a killed draft that nobody answers is reminded of once, and closed", async () => {
  const lesson = await begin({ REMIND_AFTER_SECONDS: 1, CLOSE_AFTER_SECONDS: 1 });
  const drafts = await Promise.all(
    crashes("model.run", "mail.send", "mail.remind").map(({ operation, fault }) =>
      lesson.request({ [operation]: [fault] }),
    ),
  );
  await crashWhenHanging(
    lesson,
    drafts.map(({ draftId }) => draftId),
  );
  for (const { draftId } of drafts) {
    await lesson.untilRow(draftId, ({ state }) => state === "closed");
    expect(await lesson.evidence(draftId)).toEqual({
      "email.sent": 1,
      "model.called": 1,
      "reminder.sent": 1,
    });
  }
});

test.each([
  ["first", EVENTS.draftReview, { REMIND_AFTER_SECONDS: 600 }, {}],
  ["second", EVENTS.draftReviewReminded, { REMIND_AFTER_SECONDS: 1 }, { "reminder.sent": 1 }],
])(
  "a draft that is killed in its %s wait still hears the click",
  async (_name, type, vars, more) => {
    const lesson = await begin({ CLOSE_AFTER_SECONDS: 600, ...vars });
    const { draftId } = await lesson.request();
    const link = await lesson.mailedLink(draftId);
    await lesson.untilWaiting(draftId, type);
    expect((await runtime.crash()).signal).toBe("SIGKILL");
    expect(await lesson.decide(link)).toBe(200);
    await lesson.untilRow(draftId, ({ state }) => state === "published");
    expect(await lesson.evidence(draftId)).toEqual({ ...PUBLISHED, ...more });
  },
);
