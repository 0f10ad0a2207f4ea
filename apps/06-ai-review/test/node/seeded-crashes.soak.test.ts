/**
 * Six SIGKILLs under forty drafts at once; in `pnpm test` three, and fewer drafts. Every draft has a seed: it says which calls of its providers fail, which hang
 * until the kill (before or after their effect), when the reviewer clicks and what. Run one again with
 * SEEDS=17 (or SEEDS=1-200) pnpm test:soak.
 */
import type { Fault, Operation } from "@durable-lessons/outside-world";
import { randomOf } from "@durable-lessons/lab/random";
import type { LessonRuntime } from "@durable-lessons/lab/runner";
import { soak } from "@durable-lessons/test-kit/soak";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { clientOf, newDraft, startLesson } from "./helpers.ts";

const CRASHES = soak(6, 3);
const PATIENTLY = { timeout: 90_000, interval: 250 };
const [first = 1, last = first] = (process.env["SEEDS"] ?? soak("1-40", "1-12"))
  .split("-")
  .map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, nth) => first + nth);

let runtime: LessonRuntime;
let lesson: ReturnType<typeof clientOf>;

beforeAll(async () => {
  runtime = await startLesson({ REMIND_AFTER_SECONDS: 1, CLOSE_AFTER_SECONDS: 3600 });
  lesson = clientOf(runtime);
});
afterAll(() => runtime.close());

interface Plan {
  seed: number;
  draftId: string;
  faults: Partial<Record<Operation, Fault[]>>;
  /** The reviewer clicks after that many crashes. */
  clickAfter: number;
  click: "approve" | "reject" | null;
}

/** How often each operation may go wrong: once less than it is tried, and a kill costs an attempt too. */
const BEARABLE: [Operation, number][] = [
  ["model.run", 2],
  ["mail.send", 5],
  ["mail.remind", 5],
  ["site.publish", 5],
];

function planOf(seed: number): Plan {
  const random = randomOf(seed);
  const pick = <T>(one: T, ...others: T[]) => [one, ...others][random(others.length + 1)] ?? one;
  const faults: Plan["faults"] = {};
  for (const [operation, bearable] of BEARABLE) {
    faults[operation] = Array.from({ length: random(bearable + 1) }, () =>
      pick<Fault>("hang", "hang-after-effect", "fail", "fail-after-effect"),
    );
  }
  return {
    seed,
    draftId: `seed_${seed}`,
    faults,
    clickAfter: random(CRASHES),
    click: pick("approve", "approve", "reject", null),
  };
}

/** How the drafts stand, and how many of their calls have hung. */
async function look(plans: Plan[]) {
  const states = new Map((await lesson.rows()).map((row) => [row.draft_id, row]));
  const hangs = await lesson.hangs();
  return plans.map((plan) => ({
    plan,
    row: states.get(plan.draftId),
    hangs: hangs.get(plan.draftId) ?? 0,
  }));
}

type Seen = Awaited<ReturnType<typeof look>>[number];

/** Is there nothing more to come, unless somebody clicks? */
const isQuiet = ({ row, plan }: Seen, crashes: number) => {
  if (row?.state === "published" || row?.state === "rejected") return true;
  const clicks = plan.click !== null && plan.clickAfter <= crashes;
  return row?.state === "in review" && row.reminded_at !== null && !clicks;
};

async function clickWhenDue({ plan, row }: Seen, crashes: number) {
  if (row?.state !== "in review" || plan.click === null || plan.clickAfter > crashes) return;
  if ((await lesson.evidence(plan.draftId))["email.sent"] !== 1) return;
  await lesson.decide(await lesson.mailedLink(plan.draftId), plan.click);
}

test(`one model call, one mail, one article at most: seeds ${first} to ${last}`, async () => {
  const plans = seeds.map(planOf);
  await Promise.all(
    plans.map(({ draftId, faults }) => lesson.request(faults, newDraft({ draftId }))),
  );

  let before = new Map<number, number>();
  for (let crashes = 0; crashes < CRASHES; crashes++) {
    // Every third time as soon as one draft hangs: the others are anywhere then.
    const impatient = crashes % 3 === 2;
    await vi.waitUntil(async () => {
      const drafts = await look(plans);
      const moving = drafts.filter(
        (draft) => draft.hangs <= (before.get(draft.plan.seed) ?? 0) && !isQuiet(draft, crashes),
      );
      await Promise.all(moving.map((draft) => clickWhenDue(draft, crashes)));
      return impatient ? moving.length < drafts.length : moving.length === 0;
    }, PATIENTLY);
    before = new Map((await look(plans)).map(({ plan, hangs }) => [plan.seed, hangs]));
    expect((await runtime.crash()).signal).toBe("SIGKILL");
    await Promise.all(plans.map(({ draftId }) => lesson.wake(draftId)));
  }

  const drafts = await vi.waitUntil(async () => {
    const seen = await look(plans);
    const open = seen.filter((draft) => !isQuiet(draft, CRASHES));
    await Promise.all(open.map((draft) => clickWhenDue(draft, CRASHES)));
    return open.length === 0 && seen;
  }, PATIENTLY);

  const ENDS = { approve: "published", reject: "rejected", none: "in review" };
  for (const { plan, row } of drafts) {
    const { seed, draftId, click } = plan;
    const state = ENDS[click ?? "none"];
    // Who clicks early is not reminded; whoever does not is, when the mail has got through.
    const { "reminder.sent": reminders = 0, ...effects } = await vi.waitUntil(async () => {
      const seen = await lesson.evidence(draftId);
      return (click !== null || seen["reminder.sent"] !== undefined) && seen;
    }, PATIENTLY);
    expect({ seed, state: row?.state, effects, reminders }).toEqual({
      seed,
      state,
      effects: {
        "email.sent": 1,
        "model.called": 1,
        ...(state === "published" ? { "article.published": 1 } : {}),
      },
      reminders: click === null ? 1 : Math.min(reminders, 1),
    });
    expect(await lesson.article(draftId)).toBe(state === "published" ? row?.text : null);
    // The plan was carried out, not passed by: every fault was met before the call that succeeded. Whoever rejects as soon as
    // the mail is there closes the draft while its step may still wait for the mail's receipt.
    for (const operation of ["model.run", "mail.send"] as const) {
      await vi.waitFor(async () => {
        const calls = await lesson.calls(draftId, operation);
        expect(calls, `seed ${seed}`).toBeGreaterThan(plan.faults[operation]?.length ?? 0);
      }, PATIENTLY);
    }
  }
}, 600_000);
