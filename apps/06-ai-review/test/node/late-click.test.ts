import type { LessonRuntime } from "@durable-lessons/lab/runner";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf, PUBLISHED, startLesson } from "./helpers.ts";

let runtime: LessonRuntime;
let lesson: ReturnType<typeof clientOf>;
beforeAll(async () => {
  runtime = await startLesson({ REMIND_AFTER_SECONDS: 1, CLOSE_AFTER_SECONDS: 1 });
  lesson = clientOf(runtime);
});
afterAll(() => runtime.close());

test("E9: clicks around both timeouts: who was told yes is heard, who was told no has not published", async () => {
  const clicks = await Promise.all(
    Array.from({ length: 48 }, async (_, nth) => {
      const { draftId } = await lesson.request();
      const link = await lesson.mailedLink(draftId);
      // Spread from before the first timeout to after the second one.
      await new Promise((resolve) => setTimeout(resolve, 600 + nth * 40));
      return { draftId, status: await lesson.decide(link) };
    }),
  );
  for (const { draftId, status } of clicks) {
    const { state } = await lesson.untilRow(draftId, (row) =>
      ["published", "closed"].includes(row.state),
    );
    const { "reminder.sent": reminders = 0, ...effects } = await lesson.evidence(draftId);
    expect([200, 410]).toContain(status);
    const expected =
      status === 200
        ? { state: "published", effects: PUBLISHED }
        : { state: "closed", effects: { "email.sent": 1, "model.called": 1 } };
    expect({ state, effects }).toEqual(expected);
    expect(reminders).toBeLessThanOrEqual(1);
  }
});
