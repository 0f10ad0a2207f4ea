/** The schedule: the local engine never fires, so the test hands the event what a firing has. */
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
import { env, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { dayBefore, isOver } from "../../src/days.ts";
import { NightlyWorkflow } from "../../src/index.ts";
import { failRun, openRun } from "../../src/runs.ts";
import { restartRun, startRun } from "../../src/start-run.ts";
import { contentsOf, csv, deliver, newDay, reportOf, row } from "./helpers.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

afterEach(() => vi.restoreAllMocks());

/** One firing, as the platform makes it: an instance with an id of its own, and the time that the firing is for. */
async function fire(day: string) {
  const scheduledTime = Date.parse(`${day}T03:00:00Z`) + DAY_MS;
  const original = NightlyWorkflow.prototype.run;
  vi.spyOn(NightlyWorkflow.prototype, "run").mockImplementationOnce(function run(
    this: NightlyWorkflow,
    event: WorkflowEvent<unknown>,
    step: WorkflowStep,
  ) {
    const fired = { ...event, schedule: { cron: "0 3 * * *", scheduledTime } };
    return original.call(this, fired, step);
  });
  return untilOver(await env.NIGHTLY.create());
}

test("D5: two firings of one night are one run, of the day before", async () => {
  const day = newDay();
  await deliver(day, { "a.csv": csv(row(day, "s-1")) });
  expect((await fire(day)).output).toEqual({ day, started: true });
  expect((await fire(day)).output).toEqual({ day, started: false });
  expect(await reportOf(day)).toMatchObject({ day, rows: 1 });
});

test("a run that was started by hand is the night's too", async () => {
  const day = newDay();
  await deliver(day, { "a.csv": csv(row(day, "s-1")) });
  await startRun(env, day);
  expect((await fire(day)).output).toEqual({ day, started: false });
  expect(await reportOf(day)).toMatchObject({ rows: 1 });
});

test("a day that is loaded is not loaded again when its instance is past its retention", async () => {
  const day = newDay();
  await deliver(day, { "a.csv": csv(row(day, "s-1")) });
  await startRun(env, day);
  await reportOf(day);
  const id = `etl-${day.replaceAll("-", "--")}`;
  await (await env.ETL.get(id)).delete();
  await deliver(day, { "a.csv": csv(row(day, "s-2")) });
  expect((await fire(day)).output).toEqual({ day, started: false });
  await expect(env.ETL.get(id)).rejects.toThrow("not_found");
  expect((await contentsOf(day)).sales).toEqual(["s-1 a.csv:2 100"]);
});

test("a run whose row was written and whose instance was not is started by whoever comes next", async () => {
  const day = newDay();
  await deliver(day, { "a.csv": csv(row(day, "s-1")) });
  const create = vi.spyOn(env.ETL, "create").mockRejectedValueOnce(new Error("no answer"));
  await expect(startRun(env, day)).rejects.toThrow("no answer");
  create.mockRestore();
  expect(await startRun(env, day)).toMatchObject({ isNew: false });
  expect(await reportOf(day)).toMatchObject({ rows: 1 });
});

test("a day that has failed is not started again, and the night's own run says so", async () => {
  const day = newDay();
  await startRun(env, day);
  await reportOf(day);
  await openRun(env.DB, day);
  await failRun(env.DB, day, "no more room");
  const id = `etl-${day.replaceAll("-", "--")}`;
  // Forgotten, as after its retention: the row remembers.
  await (await env.ETL.get(id)).delete();
  const { output } = await fire(day);
  expect(output).toEqual({
    day,
    started: false,
    obstacle: expect.stringMatching(/failed: no more room.*\/restart/),
  });
  await expect(env.ETL.get(id)).rejects.toThrow("not_found");
  expect(await restartRun(env, day)).toBeNull();
  expect(await reportOf(day)).toMatchObject({ rows: 0 });
});

test("a day that is paused is not said to be under way: the way on is named", async () => {
  const day = newDay();
  const list = vi.spyOn(env.FILES, "list").mockImplementation(() => new Promise(() => {}));
  await startRun(env, day);
  await vi.waitUntil(() => list.mock.calls.length > 0, PATIENTLY);
  const instance = await env.ETL.get(`etl-${day.replaceAll("-", "--")}`);
  await instance.pause();
  const wayOn = `wrangler workflows instances resume etl ${instance.id}`;
  expect((await startRun(env, day)).obstacle).toContain(wayOn);
  expect(await restartRun(env, day)).toContain(wayOn);
  await instance.terminate();
});

test("without a schedule nothing is started", async () => {
  const before = await env.DB.prepare("SELECT COUNT(*) AS n FROM runs").first("n");
  expect((await untilOver(await env.NIGHTLY.create())).status).toBe("errored");
  expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM runs").first("n")).toBe(before);
});

test("a day is over when the next one begins, in UTC", () => {
  const midnight = Date.UTC(2026, 10, 29);
  expect(dayBefore(midnight)).toBe("2026-11-28");
  expect(isOver("2026-11-28", midnight)).toBe(true);
  expect(isOver("2026-11-28", midnight - 1)).toBe(false);
  expect(isOver("2027-01-01", midnight)).toBe(false);
  expect(dayBefore(Date.UTC(2028, 2, 1, 3))).toBe("2028-02-29");
});
