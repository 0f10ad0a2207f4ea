import { join } from "node:path";
import { LessonRuntime } from "@durable-lessons/lab/runner";
import { isOver as isOverAs } from "@durable-lessons/test-kit";
import { WAKE_EVENT } from "@durable-lessons/types";
import { expect, vi } from "vitest";
import { addUp, generate, type DataOptions, type GeneratedFile } from "../../scripts/generate.ts";
import { incoming } from "../../src/files.ts";
import type { Report } from "../../src/report.ts";

export const lesson = join(import.meta.dirname, "..", "..");
export const TOKEN = "token-of-ada-for-these-tests";
const PATIENTLY = { timeout: 480_000, interval: 50 };

/** The lesson on a workerd of its own, with short retries. */
export const startLesson = () => LessonRuntime.start(lesson, { RETRY_DELAY: 10, ETL_TOKEN: TOKEN });

interface Bindings {
  DB: D1Database;
  ETL: Workflow;
  FILES: R2Bucket;
}

/** What `GET /runs/:day` answers. */
interface View {
  state: string;
  reason: string | null;
  instance: { status: string; error: { message: string } | null } | null;
  files: Record<string, number>;
  report: Report | null;
}

/** A client of a lesson that runs. */
export function clientOf(runtime: LessonRuntime) {
  const bindings = async () => (await runtime.env()) as unknown as Bindings;

  async function send(method: string, path: string, body?: unknown, token: string | null = TOKEN) {
    const response = await runtime.fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) };
  }

  const view = async (day: string): Promise<View> => (await send("GET", `/runs/${day}`)).body;

  return {
    bindings,
    send,
    view,

    /** Delivers a file of a day. */
    async put(day: string, file: string, content: string | Uint8Array) {
      await (await bindings()).FILES.put(incoming(day) + file, content);
    },

    /** Delivers generated files, and tells what a run must make of them. */
    async deliver(options: DataOptions): Promise<Omit<GeneratedFile, "bytes">[]> {
      const { FILES } = await bindings();
      const made = [];
      for (const { bytes, ...expected } of generate(options)) {
        await FILES.put(incoming(options.day) + expected.file, bytes);
        made.push(expected);
      }
      return made;
    },

    start: (day: string) => send("POST", "/runs", { day }),
    restart: (day: string) => send("POST", `/runs/${day}/restart`),

    /** Brings a run back after a crash. The local engine does not do it by itself. */
    async wake(day: string) {
      const instance = await (await bindings()).ETL.get(`etl-${day.replaceAll("-", "--")}`);
      await instance.sendEvent({ type: WAKE_EVENT, payload: null });
    },

    until: (day: string, condition: (view: View) => boolean) =>
      vi.waitUntil(async () => {
        const seen = await view(day);
        return condition(seen) && seen;
      }, PATIENTLY),

    /** Waits for the end of a run, and gives its report. */
    async report(day: string): Promise<Report> {
      const { instance, report } = await this.until(day, isOver);
      if (instance?.status !== "complete" || !report)
        throw new Error(`${day}: ${JSON.stringify(instance)}`);
      return report;
    },

    /** What of a day is in D1: its rows by file, and its sums. */
    async contents(day: string) {
      const { DB } = await bindings();
      const all = async (sql: string) => (await DB.prepare(sql).bind(day).all()).results;
      return {
        files: await all(
          `SELECT file, COUNT(*) AS rows, COUNT(DISTINCT line) AS lines FROM sales
           WHERE day = ?1 GROUP BY file ORDER BY file`,
        ),
        currencies: await all(
          `SELECT currency, COUNT(*) AS rows, SUM(minor) AS minor FROM sales
           WHERE day = ?1 GROUP BY currency ORDER BY currency`,
        ),
        rejects: await all(
          "SELECT file, line, reason FROM rejects WHERE day = ?1 ORDER BY file, line",
        ),
      };
    },

    /** Counts every row that is written to or deleted from the tables that a run fills, from now on. */
    async watchWrites(): Promise<() => Promise<number>> {
      const { DB } = await bindings();
      const log = ["CREATE TABLE IF NOT EXISTS writes (what TEXT)", "DELETE FROM writes"];
      const triggers = ["sales", "rejects"].flatMap((table) =>
        ["INSERT", "UPDATE", "DELETE"].map(
          (verb) =>
            `CREATE TRIGGER IF NOT EXISTS watch_${table}_${verb} AFTER ${verb} ON ${table}
             BEGIN INSERT INTO writes VALUES ('${verb} ${table}'); END`,
        ),
      );
      await DB.batch([...log, ...triggers].map((sql) => DB.prepare(sql)));
      return async () =>
        (await (
          await bindings()
        ).DB.prepare("SELECT COUNT(*) AS n FROM writes").first<number>("n")) ?? 0;
    },
  };
}

export const isOver = ({ instance }: View) => isOverAs(instance?.status);

/** What {@link clientOf}'s `contents` must be, by the generator's own account. */
export function expectedContents(made: Omit<GeneratedFile, "bytes">[]) {
  const byFile = made.toSorted((a, b) => (a.file < b.file ? -1 : 1));
  return {
    files: byFile
      .filter(({ rows }) => rows > 0)
      .map(({ file, rows }) => ({ file, rows, lines: rows })),
    currencies: Object.entries(addUp(made).currencies).map(([currency, sums]) => ({
      currency,
      ...sums,
    })),
    rejects: byFile.flatMap(({ file, rejectedLines }) =>
      rejectedLines.map((line) => ({ file, line, reason: expect.any(String) as string })),
    ),
  };
}
