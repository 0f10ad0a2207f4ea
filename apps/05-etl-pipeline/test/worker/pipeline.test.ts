import { introspectWorkflowInstance } from "cloudflare:test";
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { incoming } from "../../src/files.ts";
import { splitLines } from "../../src/lines.ts";
import { listPage, PAGE_SIZE } from "../../src/list-files.ts";
import { batches, loadFile } from "../../src/load.ts";
import { PART_BYTES, R2Writer } from "../../src/r2-writer.ts";
import { writeReport } from "../../src/report.ts";
import { restartRun, startRun } from "../../src/start-run.ts";
import { transformFile } from "../../src/transform.ts";
import {
  contentsOf,
  csv,
  deliver,
  HEADER,
  instanceOf,
  load,
  newDay,
  reportOf,
  row,
  storedReport,
  viewOf,
} from "./helpers.ts";

const restart = async (day: string) => {
  expect(await restartRun(env, day)).toBeNull();
  return reportOf(day);
};

describe("odd files", () => {
  test("are loaded as far as they go, and every bad row is kept with line and reason", async () => {
    const day = newDay();
    const bom = "\uFEFF";
    const latin1 = new TextEncoder().encode(csv(row(day, "s-9").replace("Berlin", "Z?rich")));
    latin1[latin1.indexOf(0x3f)] = 0xfc;
    await deliver(day, {
      "empty.csv": "",
      "bom.csv": `${bom}${csv(row(day, "s-1"))}`,
      "bom-only.csv": bom,
      "crlf.csv": csv(row(day, "s-2"), row(day, "s-3", "x"), row(day, "s-4")).replaceAll(
        "\n",
        "\r\n",
      ),
      "header.csv": HEADER,
      "no-header.csv": row(day, "s-5"),
      "breaks.csv": csv(
        `s-6,${day}T10:00:00Z,"Line one\nline two",EUR,2.00`,
        row(day, "s-7", "free"),
      ),
      "latin1.csv": latin1,
      "utf16.csv": new Uint8Array([0xff, 0xfe, 0x73, 0, 0x2c, 0, 0x0a, 0]),
      "unclosed.csv": csv(
        row(day, "s-10"),
        row(day, "s-11").replace("Berlin", '"Berlin'),
        row(day, "s-12"),
      ),
      "UPPER.CSV": csv(row(day, "s-13")),
      "notes.txt": "not for us",
      "folder/": "",
    });
    const report = await load(day);
    const { sales, rejects } = await contentsOf(day);
    expect(sales.map((sale) => sale.split(" ", 2).join(" "))).toEqual([
      "s-1 bom.csv:2",
      "s-10 unclosed.csv:2",
      "s-12 unclosed.csv:4",
      "s-13 UPPER.CSV:2",
      "s-2 crlf.csv:2",
      "s-4 crlf.csv:4",
    ]);
    expect(rejects.map(({ file, line, reason }) => `${file}:${line} ${reason}`)).toEqual(
      [
        "breaks.csv:2 a quote is in the wrong place, or not closed in its line",
        "breaks.csv:3 a quote is in the wrong place, or not closed in its line",
        "breaks.csv:4 amount must be a number with no more digits than its currency has",
        "crlf.csv:3 amount must be a number with no more digits than its currency has",
        "latin1.csv:2 the text must be UTF-8",
        `no-header.csv:1 the first row must be ${HEADER}`,
        `utf16.csv:1 the first row must be ${HEADER}`,
        "unclosed.csv:3 a quote is in the wrong place, or not closed in its line",
        "utf16.csv:2 no header says what its columns are",
      ].toSorted(),
    );
    expect(report).toEqual({
      day,
      files: { loaded: 11, empty: 1, skipped: 2, gone: 0 },
      rows: 6,
      rejected: rejects.length,
      currencies: { EUR: { rows: 6, minor: 600 } },
      reasons: expect.objectContaining({ "the text must be UTF-8": 1 }),
    });
    expect(await storedReport(day)).toEqual({ state: "complete", report });
  });

  test("no files at all are a day without sales", async () => {
    const day = newDay();
    expect(await load(day)).toMatchObject({ files: { loaded: 0 }, rows: 0, currencies: {} });
  });
});

describe("two stray quotes with line ends between them", () => {
  test("cost their own lines, and no sale between them", async () => {
    const day = newDay();
    const stray = (id: string, from: string, to: string) => row(day, id, "2.00").replace(from, to);
    await deliver(day, {
      "a.csv": csv(
        row(day, "s-1"),
        stray("s-2", "Berlin", '"Berlin'),
        row(day, "s-3"),
        stray("s-4", "Berlin", 'Berlin"'),
        row(day, "s-5"),
      ),
    });
    const report = await load(day);
    expect(report).toMatchObject({ rows: 3, rejected: 2, currencies: { EUR: { minor: 300 } } });
    const { sales, rejects } = await contentsOf(day);
    expect(sales).toEqual(["s-1 a.csv:2 100", "s-3 a.csv:4 100", "s-5 a.csv:6 100"]);
    expect(rejects.map(({ line }) => line)).toEqual([3, 5]);
    const shops = await env.DB.prepare("SELECT DISTINCT shop FROM sales WHERE day = ?1")
      .bind(day)
      .all();
    expect(shops.results).toEqual([{ shop: "Berlin" }]);
  });
});

describe("a name that cannot be a step's", () => {
  test("costs its own file, with the reason, and no other", async () => {
    const day = newDay();
    const names = [
      "a\nb.csv",
      "a\rb.csv",
      "a\tb.csv",
      "a\u0000b.csv",
      "a\u2028b.csv",
      "a\u007fb.csv",
    ];
    await deliver(day, Object.fromEntries(names.map((name) => [name, csv(row(day, "s-9"))])));
    const long = `${"x".repeat(300)}.csv`;
    await deliver(day, { "good.csv": csv(row(day, "s-1")), [long]: csv(row(day, "s-2")) });
    expect(await load(day)).toMatchObject({
      files: { loaded: 2, skipped: names.length },
      rows: 2,
    });
    const { skipped } = await viewOf(day);
    expect(skipped).toHaveLength(names.length);
    for (const { file, reason } of skipped) {
      expect(reason).toBe("its name must be one line, without control characters");
      expect(file).toMatch(/^a/);
    }
  });
});

describe("a sale_id that comes again", () => {
  test("D4: is loaded once, where it stands first, and kept aside elsewhere", async () => {
    const day = newDay();
    await deliver(day, {
      "a.csv": csv(row(day, "s-1", "1.00"), row(day, "s-1", "2.00")),
      "b.csv": csv(row(day, "s-1", "3.00"), row(day, "s-2", "4.00")),
    });
    const report = await load(day);
    expect(report).toMatchObject({ rows: 2, rejected: 2, currencies: { EUR: { minor: 500 } } });
    expect(await contentsOf(day)).toEqual({
      sales: ["s-1 a.csv:2 100", "s-2 b.csv:3 400"],
      rejects: [
        { file: "a.csv", line: 3, reason: "the sale_id is taken", text: "s-1 is in a.csv, line 2" },
        { file: "b.csv", line: 2, reason: "the sale_id is taken", text: "s-1 is in a.csv, line 2" },
      ],
    });
  });
});

/** Triggers that note every row that is written to or deleted from the tables that a run fills. */
const WATCHES = ["sales", "rejects"].flatMap((table) =>
  ["INSERT", "UPDATE", "DELETE"].map(
    (verb) =>
      `CREATE TRIGGER watch_${table}_${verb} AFTER ${verb} ON ${table}
       BEGIN INSERT INTO writes VALUES ('${verb} ${table}'); END`,
  ),
);

describe("a run that is restarted", () => {
  test("D4: leaves the same files' rows alone, and puts right what somebody has changed", async () => {
    const day = newDay();
    await deliver(day, { "a.csv": csv(row(day, "s-1"), row(day, "s-1"), row(day, "s-2", "x")) });
    const report = await load(day);
    const contents = await contentsOf(day);
    await env.DB.batch(
      ["CREATE TABLE writes (what TEXT)", ...WATCHES].map((sql) => env.DB.prepare(sql)),
    );
    expect(await restart(day)).toEqual(report);
    expect(await contentsOf(day)).toEqual(contents);
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM writes").first("n")).toBe(0);

    await env.DB.prepare("UPDATE sales SET minor = 7 WHERE day = ?1").bind(day).run();
    expect(await restart(day)).toEqual(report);
    expect(await contentsOf(day)).toEqual(contents);
  });

  test("takes the rows of a corrected file back, also those that have moved to another one", async () => {
    const day = newDay();
    await deliver(day, {
      "b.csv": csv(row(day, "s-1"), row(day, "s-2"), row(day, "s-3", "x")),
      "c.csv": csv(row(day, "s-4"), row(day, "s-1")),
    });
    expect(await load(day)).toMatchObject({ rows: 3, rejected: 2 });

    await deliver(day, {
      "a.csv": csv(row(day, "s-2", "5.00")),
      "b.csv": csv(row(day, "s-3", "6.00"), row(day, "s-5")),
    });
    expect(await restart(day)).toMatchObject({ rows: 5, rejected: 0 });
    expect(await contentsOf(day)).toEqual({
      sales: [
        "s-1 c.csv:3 100",
        "s-2 a.csv:2 500",
        "s-3 b.csv:2 600",
        "s-4 c.csv:2 100",
        "s-5 b.csv:3 100",
      ],
      rejects: [],
    });
  });

  test("loads a late file, keeps the rows of one that is gone, and those of an emptied one no longer", async () => {
    const day = newDay();
    await deliver(day, { "a.csv": csv(row(day, "s-1")), "b.csv": csv(row(day, "s-2")) });
    await load(day);
    await env.FILES.delete(`${incoming(day)}a.csv`);
    await deliver(day, { "b.csv": "", "c.csv": csv(row(day, "s-3")) });
    expect(await restart(day)).toMatchObject({ rows: 2, files: { loaded: 2, empty: 1, gone: 1 } });
    expect((await contentsOf(day)).sales).toEqual(["s-1 a.csv:2 100", "s-3 c.csv:2 100"]);
  });

  test("reports what is loaded: rows of a file that is gone count, in the table and in the report", async () => {
    const day = newDay();
    await deliver(day, {
      "a.csv": csv(row(day, "s-1"), row(day, "s-2"), row(day, "s-3"), row(day, "s-4", "x")),
      "b.csv": csv(row(day, "s-5"), row(day, "s-6"), row(day, "s-7"), row(day, "s-1")),
    });
    const first = await load(day);
    await env.FILES.delete(`${incoming(day)}a.csv`);
    const report = await restart(day);
    expect(report).toEqual({ ...first, files: { ...first.files, loaded: 1, gone: 1 } });
    const { sales, rejects } = await contentsOf(day);
    expect([report.rows, report.rejected]).toEqual([sales.length, rejects.length]);
    expect(report).toMatchObject({ rows: 6, rejected: 2, currencies: { EUR: { rows: 6 } } });
    expect(await viewOf(day)).toMatchObject({ state: "complete", rows: 6, rejected: 2 });
  });

  test("reports the old rows of a file that is skipped this time, too", async () => {
    const day = newDay();
    await deliver(day, { "a.csv": csv(row(day, "s-1")), "b.csv": csv(row(day, "s-2")) });
    await load(day);
    // Between the list and the read.
    const listed = vi.spyOn(env.FILES, "list").mockImplementationOnce(async (options) => {
      listed.mockRestore();
      const list = await env.FILES.list(options);
      await env.FILES.delete(`${incoming(day)}a.csv`);
      return list;
    });
    const report = await restart(day);
    expect(report).toMatchObject({ files: { loaded: 1, skipped: 1 }, rows: 2 });
    expect((await contentsOf(day)).sales).toHaveLength(report.rows);
  });

  test("takes a renamed file for duplicates, until an empty one stands under the old name", async () => {
    const day = newDay();
    const text = csv(row(day, "s-1"));
    await deliver(day, { "a.csv": text });
    await load(day);
    await env.FILES.delete(`${incoming(day)}a.csv`);
    await deliver(day, { "b.csv": text });
    expect(await restart(day)).toMatchObject({ rows: 1, rejected: 1 });
    await deliver(day, { "a.csv": "" });
    expect(await restart(day)).toMatchObject({ rows: 1, rejected: 0 });
    expect((await contentsOf(day)).sales).toEqual(["s-1 b.csv:2 100"]);
  });
});

describe("the version that was listed", () => {
  const listed = async (files: Record<string, string>) => {
    const day = newDay();
    await deliver(day, files);
    const page = await listPage(env, day, null);
    return { day, files: page.files };
  };

  test.each([
    ["replaced", (day: string) => deliver(day, { "a.csv": csv(row(day, "s-2")) })],
    ["deleted", (day: string) => env.FILES.delete(`${incoming(day)}a.csv`)],
  ])(
    "D13: is the one that is read: a file that was %s since is skipped, and says so",
    async (what, change) => {
      const { day, files } = await listed({ "a.csv": csv("broken") });
      const [file] = files;
      if (!file) throw new Error("Nothing was listed.");
      await change(day);
      const reason = `it was ${what} after the run had listed it`;
      expect(await transformFile(env, day, file)).toEqual({ state: "skipped", reason });
      const noted = await env.DB.prepare("SELECT state, reason FROM files WHERE day = ?1")
        .bind(day)
        .first();
      expect(noted).toEqual({ state: "skipped", reason });
    },
  );

  test("is loaded from where it was staged, and an attempt that comes too late changes nothing", async () => {
    const { day, files } = await listed({ "a.csv": csv("x") });
    const [file] = files;
    if (!file) throw new Error("Nothing was listed.");
    await expect(loadFile(env, day, file, 0)).rejects.toThrow("restart the run");
    await transformFile(env, day, file);
    const first = await loadFile(env, day, file, 0);
    expect(first).toEqual({ rows: 0, rejected: 1 });
    expect(await loadFile(env, day, file, 0)).toEqual(first);

    // One that has timed out goes on in the background, and may end when its file is loaded already.
    const report = await writeReport(env.DB, day);
    expect(report).toMatchObject({ files: { loaded: 1 }, rejected: 1 });
    await transformFile(env, day, file);
    expect(await writeReport(env.DB, day)).toEqual(report);
  });
});

describe("the list", () => {
  test("D11: has all files, however many pages they take", async () => {
    const day = newDay();
    const count = 2 * PAGE_SIZE + 1;
    const names = Array.from({ length: count }, (_, nth) => `${10_000 + nth}.csv`);
    for (let from = 0; from < count; from += 100) {
      await Promise.all(
        names.slice(from, from + 100).map((name) => env.FILES.put(incoming(day) + name, "")),
      );
    }
    // One call gives a thousand at most.
    const once = await env.FILES.list({ prefix: incoming(day) });
    expect([once.objects.length, once.truncated]).toEqual([1000, true]);

    const files = [];
    let pages = 0;
    let after: string | null = null;
    do {
      const page = await listPage(env, day, after);
      files.push(...page.files.map(({ file }) => file));
      after = page.next;
      pages += 1;
    } while (after !== null);
    expect([pages, files]).toEqual([3, names]);
    const noted = await env.DB.prepare(
      "SELECT COUNT(*) AS n FROM files WHERE day = ?1 AND state = 'listed'",
    )
      .bind(day)
      .first("n");
    expect(noted).toBe(count);
  });

  test("fits into a step's result with the longest keys that R2 takes", async () => {
    const day = newDay();
    const longest = "茶".repeat(Math.floor((1024 - incoming(day).length - 7) / 3));
    await deliver(day, { [`${longest}-1.csv`]: csv(row(day, "s-1")) });
    const page = await listPage(env, day, null);
    const bytes = new TextEncoder().encode(JSON.stringify(page)).length;
    expect(bytes * PAGE_SIZE).toBeLessThan(2 ** 20);
    expect(await load(day)).toMatchObject({ rows: 1 });
  });

  test("that is too long for one run ends it, with the reason", async () => {
    const day = newDay();
    const instance = await introspectWorkflowInstance(env.ETL, `etl-${day.replaceAll("-", "--")}`);
    const files = Array.from({ length: 4901 }, (_, nth) => ({
      file: `${nth}.csv`,
      etag: "e",
      bytes: 1,
    }));
    await instance.modify(async (m) => {
      await m.mockStepResult({ name: "list files, page 1" }, { files, next: null });
    });
    await startRun(env, day);
    expect((await untilOver(await instanceOf(day))).status).toBe("errored");
    const view = await vi.waitUntil(async () => {
      const { state, reason } = await viewOf(day);
      return state === "failed" && reason;
    }, PATIENTLY);
    expect(view).toContain("More than 4900 files");
    await instance.dispose();
  });
});

describe("an object of unknown length", () => {
  test.each([0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 2 * PART_BYTES + 3])(
    "of %d bytes is written as it is",
    async (length) => {
      const key = `writer/${length}`;
      const writer = new R2Writer(env.FILES, key);
      const text = "0123456789abcdé".repeat(Math.ceil(length / 16)).slice(0, length);
      const bytes = new TextEncoder().encode(text).subarray(0, length);
      const exact = new TextDecoder().decode(bytes.at(-1) === 0xc3 ? bytes.subarray(0, -1) : bytes);
      for (let at = 0; at < exact.length; at += 1_000_003) {
        await writer.write(exact.slice(at, at + 1_000_003));
      }
      expect(await env.FILES.head(key)).toBeNull();
      await writer.close();
      expect((await (await env.FILES.get(key))?.text()) === exact).toBe(true);
    },
  );

  test("that is given up leaves nothing", async () => {
    const writer = new R2Writer(env.FILES, "writer/aborted");
    await writer.write("x".repeat(PART_BYTES + 1));
    await writer.abort();
    expect(await env.FILES.head("writer/aborted")).toBeNull();
  });
});

test("lines come back whole, however their text is cut", async () => {
  const lines = Array.from({ length: 3000 }, (_, nth) => `${nth} ${"x".repeat(nth % 97)}`);
  const text = lines.join("\n");
  for (const size of [1000, 65_535, 65_536, 65_537, text.length]) {
    const pieces = new ReadableStream<string>({
      start(controller) {
        for (let at = 0; at < text.length; at += size)
          controller.enqueue(text.slice(at, at + size));
        controller.close();
      },
    });
    const all = [];
    for await (const some of pieces.pipeThrough(splitLines())) all.push(...some);
    expect(all).toEqual(lines);
  }
});

test("rows in the widest characters fit into D1's 2 MB for a parameter", async () => {
  const day = newDay();
  const sale = {
    id: "x".repeat(64),
    at: `${day}T10:00:00Z`,
    shop: "茶".repeat(100),
    currency: "EUR",
  };
  const line = JSON.stringify({ line: 1_000_000, ...sale, minor: 100_000_000 });
  async function* lines() {
    for (let nth = 0; nth < 20; nth++) yield Array<string>(1000).fill(line);
  }
  let rows = 0;
  for await (const batch of batches(lines())) {
    rows += batch.length;
    expect(new TextEncoder().encode(`[${batch.join()}]`).length).toBeLessThan(2_000_000);
  }
  expect(rows).toBe(20_000);
});

test("a report is not written where D1 does not hold what the files held", async () => {
  const day = newDay();
  await deliver(day, { "a.csv": csv(row(day, "s-1"), row(day, "s-2")) });
  await load(day);
  await env.DB.prepare("DELETE FROM sales WHERE day = ?1 AND sale_id = 's-1'").bind(day).run();
  await expect(writeReport(env.DB, day)).rejects.toThrow("2 rows and 0 rejects were read, 1 and 0");
});
