import type { LessonRuntime } from "@durable-lessons/lab/runner";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addUp } from "../../scripts/generate.ts";
import { dayBefore } from "../../src/days.ts";
import { whatToTry } from "../../src/what-to-try.ts";
import { clientOf, expectedContents, isOver, startLesson } from "./helpers.ts";

let runtime: LessonRuntime;
let etl: ReturnType<typeof clientOf>;
let days = 0;

beforeAll(async () => {
  runtime = await startLesson();
  etl = clientOf(runtime);
});
afterAll(() => runtime.close());

/** A day that no other test has. */
const newDay = () => new Date(Date.UTC(2020, 0, ++days)).toISOString().slice(0, 10);
const runs = async () =>
  (await etl.bindings()).DB.prepare("SELECT COUNT(*) AS n FROM runs").first<number>("n");

describe("POST /runs", () => {
  test("starts a day once, however often it is asked for", async () => {
    const day = newDay();
    const first = await etl.start(day);
    expect(first.status).toBe(202);
    expect(first.body).toEqual({
      status: "started",
      day,
      instanceId: `etl-${day.replaceAll("-", "--")}`,
    });
    expect(first.headers.get("location")).toBe(`/runs/${day}`);
    const again = await etl.start(day);
    expect([again.status, again.body]).toEqual([200, { ...first.body, status: "already-started" }]);
    await etl.report(day);
    expect((await etl.start(day)).status).toBe(200);
  });

  test("of ten requests at once one starts the day", async () => {
    const day = newDay();
    const answers = await Promise.all(Array.from({ length: 10 }, () => etl.start(day)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => b - a);
    expect(statuses).toEqual([202, ...Array(9).fill(200)]);
    await etl.report(day);
  });

  const today = new Date().toISOString().slice(0, 10);
  test.each([
    ["no day", {}, 400, "day is missing"],
    ["a number", { day: 20261128 }, 400, "day must be text"],
    ["an empty text", { day: "" }, 400, "a day of the calendar"],
    ["February 30", { day: "2026-02-30" }, 400, "a day of the calendar"],
    ["a month 13", { day: "2026-13-01" }, 400, "a day of the calendar"],
    ["a time", { day: "2026-11-28T00:00:00Z" }, 400, "a day of the calendar"],
    ["a path", { day: "../2026-11-28" }, 400, "a day of the calendar"],
    ["an unknown field", { day: "2026-01-01", force: true }, 400, "force is not a known field"],
    ["today", { day: today }, 400, "may still come"],
    ["a day to come", { day: "9999-12-31" }, 400, "may still come"],
    ["text that is no JSON", "{", 400, "JSON"],
    ["null", "null", 400, "JSON object"],
    ["20 KB", { day: "x".repeat(20_000) }, 413, "larger than"],
  ])("%s is refused and starts nothing", async (_name, body, status, error) => {
    const before = await runs();
    const answer = await etl.send("POST", "/runs", body);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(error);
    expect(await runs()).toBe(before);
  });

  test("names the field that is wrong", async () => {
    for (const day of ["2026-02-30", today]) {
      const { body } = await etl.start(day);
      expect(body.issues).toEqual([{ field: "day", message: body.error }]);
    }
  });
});

describe("a day that has failed", () => {
  /** Lets every load of a day fail, until it is called. */
  async function withoutRoom(day: string) {
    const trigger = `full_${day.replaceAll("-", "_")}`;
    const { DB } = await etl.bindings();
    await DB.exec(
      `CREATE TRIGGER ${trigger} BEFORE INSERT ON sales WHEN NEW.day = '${day}' BEGIN SELECT RAISE(ABORT, 'no more room'); END`,
    );
    return async () => (await etl.bindings()).DB.exec(`DROP TRIGGER ${trigger}`);
  }

  test("says why, is not started again by itself, and goes on by the route that the 409 names", async () => {
    const day = newDay();
    await etl.deliver({ day, seed: 3, files: 2, rows: 10 });
    const repair = await withoutRoom(day);
    expect((await etl.start(day)).status).toBe(202);
    const view = await etl.until(day, ({ state }) => state === "failed");
    expect(view.reason).toContain("no more room");
    await etl.until(day, isOver);

    const refused = await etl.start(day);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringMatching(/failed: .*no more room/),
    ]);
    await repair();
    const [, wayOn = ""] = /POST (\S+)/.exec(refused.body.error) ?? [];
    expect((await etl.send("POST", wayOn)).status).toBe(202);
    await etl.until(day, ({ state, report }) => state === "complete" && report !== null);
    expect(await etl.view(day)).toMatchObject({ reason: null, instance: { status: "complete" } });
    expect((await etl.start(day)).status).toBe(200);
  });

  test("or was terminated, is not under way, and goes on by the same route", async () => {
    const day = newDay();
    await etl.deliver({ day, seed: 3, files: 2, rows: 10 });
    const repair = await withoutRoom(day);
    // Long enough under way to be stopped: nothing ends it but the last retry.
    const instance = async () => (await etl.bindings()).ETL.get(`etl-${day.replaceAll("-", "--")}`);
    await etl.start(day);
    await (await instance()).terminate();
    await etl.until(day, isOver);
    const refused = await etl.start(day);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining(`POST /runs/${day}/restart`),
    ]);
    await repair();
    expect((await etl.restart(day)).status).toBe(202);
    await etl.report(day);
  });

  test("ten restarts at once end in one good day, and none of them in a 500", async () => {
    const day = newDay();
    const made = await etl.deliver({ day, seed: 9, files: 3, rows: 100 });
    await etl.start(day);
    await etl.report(day);
    const answers = await Promise.all(Array.from({ length: 10 }, () => etl.restart(day)));
    for (const { status } of answers) expect([202, 409]).toContain(status);
    await etl.until(day, (view) => isOver(view) && view.state === "complete");
    expect((await etl.view(day)).report?.rows).toBe(addUp(made).rows);
  });
});

describe("without the right token", () => {
  test.each([
    ["POST", "/runs"],
    ["POST", "/runs/2026-01-01/restart"],
    ["GET", "/runs/2026-01-01/rejects"],
  ])("%s %s is 401 and does nothing, whether there is such a day or not", async (method, path) => {
    const before = await runs();
    for (const token of [null, "", "wrong", "x".repeat(200)]) {
      const body = path === "/runs" ? { day: "2026-01-01" } : undefined;
      const answer = await etl.send(method, path, body, token);
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    }
    expect(await runs()).toBe(before);
  });
});

describe("GET /runs/:day", () => {
  test.each([
    ["2026-01-02", 404],
    ["2026-02-30", 400],
    ["yesterday", 400],
  ])("%s is %d", async (day, status) => {
    const answer = await etl.send("GET", `/runs/${day}`);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(day);
  });

  test("tells how far a run is, and answers while it works", async () => {
    const day = newDay();
    await etl.deliver({ day, seed: 7, files: 20, rows: 500 });
    await etl.put(day, "notes.txt", "not for us");
    await etl.start(day);
    const under = await etl.until(day, ({ files }) => (files.transformed ?? 0) > 3);
    expect(under).toMatchObject({
      state: "started",
      instance: { status: "running" },
      report: null,
    });
    await etl.report(day);
    expect(await etl.view(day)).toMatchObject({
      state: "complete",
      files: { loaded: 25, skipped: 1 },
      skipped: [{ file: "notes.txt", reason: "it is no .csv file" }],
    });
  });
});

describe("POST /runs/:day/restart", () => {
  test("waits for the end of the run, and then loads what has come since", async () => {
    const day = newDay();
    const made = await etl.deliver({ day, seed: 3, files: 10, rows: 500 });
    await etl.start(day);
    const early = await etl.restart(day);
    expect([early.status, early.body.error]).toEqual([409, expect.stringContaining("wait")]);
    const report = await etl.report(day);
    await etl.put(
      day,
      "late.csv",
      `sale_id,sold_at,shop,currency,amount\nlate,${day}T01:00:00Z,A,EUR,1`,
    );
    expect((await etl.restart(day)).status).toBe(202);
    await etl.until(day, (view) => isOver(view) && view.report?.rows === report.rows + 1);
    expect(report.rows).toBe(addUp(made).rows);
  });

  test("is 404 for a day without a run", async () => {
    expect((await etl.restart("2026-01-02")).status).toBe(404);
  });
});

describe("GET /runs/:day/rejects", () => {
  test("has every rejected row of the day, page by page", async () => {
    const day = newDay();
    const made = await etl.deliver({ day, seed: 5, files: 4, rows: 1500 });
    await etl.start(day);
    await etl.report(day);
    const rejects = [];
    let path: string | null = `/runs/${day}/rejects?limit=7`;
    while (path) {
      const page: { rejects: unknown[]; next: string | null } = (await etl.send("GET", path)).body;
      expect(page.rejects.length).toBeLessThanOrEqual(7);
      rejects.push(...page.rejects);
      path = page.next;
    }
    const expected = expectedContents(made).rejects;
    expect(rejects).toEqual(expected.map((reject) => expect.objectContaining(reject)));
    expect(rejects).toHaveLength(addUp(made).rejected);
  });

  test.each(["limit=x", "limit=-1", "line=1.5", "line=99999999999"])("%s is 400", async (query) => {
    const day = newDay();
    await etl.start(day);
    const answer = await etl.send("GET", `/runs/${day}/rejects?${query}`);
    expect([answer.status, answer.body.field]).toEqual([400, query.split("=")[0]]);
  });
});

test.each([
  ["GET", "/runs", "POST"],
  ["PUT", "/runs/2020-01-01", "GET"],
  ["GET", "/runs/2020-01-01/restart", "POST"],
])("%s %s is 405, with what is allowed", async (method, path, allowed) => {
  await etl.start("2020-01-01");
  const answer = await etl.send(method, path);
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, allowed]);
});

test("what to try names yesterday, and what it names works", async () => {
  const text = whatToTry("http://localhost:8705", Date.now());
  expect(text).toContain(`pnpm data --day ${dayBefore(Date.now())}`);
  for (const [, path] of text.matchAll(/https?:\/\/[^/]+(\/runs[^\s']*)/g)) {
    const method = path?.endsWith("restart") || path === "/runs" ? "POST" : "GET";
    const answer = await runtime.fetch(path ?? "", { method });
    expect(answer.status, path).not.toBe(405);
  }
});
