import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LessonRuntime, readLessons } from "../src/runner/index.ts";
import { labWorker } from "../src/runner/lab-worker.ts";
import { APPS, fixtureLesson, pairOf, startFixture } from "./fixture.ts";
import { WorkerdWatch } from "./processes.ts";

test("the lab runs alone: one workerd takes the place of a killed one", async () => {
  using watch = new WorkerdWatch();
  const runtime = await startFixture();
  try {
    expect(Object.keys(await runtime.env())).toEqual(
      expect.arrayContaining(["WORLD", "PITFALLS", "LAB_OUTAGE_FIX"]),
    );
    expect((await runtime.fetch("/")).status).toBe(404);
    const { pidBefore, pidAfter } = await runtime.crash();
    expect(watch.pids.slice(-2)).toEqual([pidBefore, pidAfter]);
  } finally {
    await runtime.close();
  }
});

describe("what is generated", () => {
  let apps: string;
  beforeEach(async () => {
    // Beside the fixture, so that its imports and its migrations are found.
    apps = await mkdtemp(join(import.meta.dirname, ".tmp-"));
    await cp(join(APPS, "99-fixture"), join(apps, "99-fixture"), { recursive: true });
  });
  afterEach(() => rm(apps, { recursive: true }));

  async function copied() {
    const [lesson] = await readLessons(apps);
    if (!lesson) throw new Error("There is no copy of the fixture.");
    return lesson;
  }

  test("holds the pairs that were asked for: another one may not even compile", async () => {
    const lesson = await copied();
    const broken = join(lesson.dir, "src/pitfalls/outage/pair.ts");
    await writeFile(broken, "export default {{");
    const runtime = await LessonRuntime.start(lesson.dir, {}, [pairOf(lesson, "message-twice")]);
    try {
      const pairs = (await (await runtime.fetch("/pitfalls")).json()) as { id: string }[];
      expect(pairs.map(({ id }) => id)).toEqual(["message-twice"]);
      const queues = Object.keys(await runtime.env()).filter((name) => name.startsWith("LAB_"));
      expect(queues).toEqual(["LAB_MESSAGE_TWICE_PITFALL", "LAB_MESSAGE_TWICE_FIX"]);
    } finally {
      await runtime.close();
    }
  });

  test("binds what the lesson's Workers bind, and gives every variant its queue", async () => {
    const lesson = await copied();
    const worker = (file: string, config: object) =>
      writeFile(
        join(lesson.dir, file),
        JSON.stringify({ main: "src/index.ts", compatibility_date: "2026-11-01", ...config }),
      );
    const database = { binding: "WORLD", database_name: "w", database_id: "1" };
    await rm(join(lesson.dir, "wrangler.jsonc"));
    await worker("wrangler.a.jsonc", {
      name: "a",
      workers_dev: false,
      compatibility_flags: ["nodejs_compat"],
      d1_databases: [database, { binding: "DB", database_name: "d", database_id: "2" }],
      send_email: [{ name: "EMAIL" }],
      vars: { WHO: "a", ONLY_A: 1 },
      triggers: { crons: ["0 3 * * *"] },
    });
    await worker("wrangler.b.jsonc", {
      name: "b",
      d1_databases: [{ ...database, migrations_dir: "elsewhere" }],
      r2_buckets: [{ binding: "FILES", bucket_name: "files" }],
      vars: { WHO: "b" },
      secrets: { required: ["TOKEN"] },
    });

    const outage = pairOf(lesson, "outage");
    if (outage.engine !== "queue") throw new Error("It has no queue.");
    const queue = { batchSize: 7, batchTimeout: 1, retries: 9 };
    const lab = await labWorker(lesson, [{ ...outage, queue }, pairOf(lesson, "many-steps")]);
    const config = JSON.parse(await readFile(lab.configFile, "utf8"));
    expect(config).toMatchObject({
      // `b` answers requests: nothing says that it has no address.
      name: "b-lab",
      d1_databases: [
        { ...database, migrations_dir: join(lesson.dir, "elsewhere") },
        { binding: "DB", database_id: "2", migrations_dir: join(lesson.dir, "migrations") },
      ],
      r2_buckets: [{ binding: "FILES", bucket_name: "files" }],
      send_email: [{ name: "EMAIL" }],
      vars: { WHO: "b", ONLY_A: 1 },
      secrets: { required: ["TOKEN"] },
      compatibility_date: "2026-11-01",
      compatibility_flags: expect.arrayContaining(["nodejs_compat", "nodejs_als"]),
    });
    expect(config.queues.producers).toEqual([
      { binding: "LAB_OUTAGE_PITFALL", queue: "lab-outage-pitfall" },
      { binding: "LAB_OUTAGE_FIX", queue: "lab-outage-fix" },
    ]);
    const settings = { max_batch_size: 7, max_batch_timeout: 1, max_retries: 9, retry_delay: 0 };
    const letters = { max_batch_size: 10, max_batch_timeout: 0, max_retries: 3, retry_delay: 0 };
    expect(config.queues.consumers).toEqual(
      ["lab-outage-pitfall", "lab-outage-fix"].flatMap((name) => [
        { queue: name, ...settings, dead_letter_queue: `${name}-dlq` },
        { queue: `${name}-dlq`, ...letters },
      ]),
    );
    expect(lab.worker).toMatchObject({
      configPath: lab.configFile,
      secrets: { TOKEN: expect.stringMatching(/^.{32,}$/) },
    });
    expect(config).not.toHaveProperty("services");
    await lab.close();

    const inFront = await labWorker(lesson, [], { isInFront: true });
    expect(JSON.parse(await readFile(inFront.configFile, "utf8"))).toMatchObject({
      services: [
        { binding: "LESSON", service: "b" },
        { binding: "CRON", service: "a" },
      ],
    });
    await inFront.close();
  });

  test("is refused where a binding would mean two databases", async () => {
    const lesson = await copied();
    const config = {
      name: "other",
      main: "src/index.ts",
      compatibility_date: "2026-11-01",
      d1_databases: [{ binding: "WORLD", database_name: "w", database_id: "another" }],
    };
    await writeFile(join(lesson.dir, "wrangler.other.jsonc"), JSON.stringify(config));
    await expect(labWorker(lesson, [])).rejects.toThrow("two databases as WORLD");
  });

  test("is removed when the runtime is closed", async () => {
    const lesson = await fixtureLesson();
    const lab = await labWorker(lesson, lesson.pairs);
    expect(existsSync(lab.configFile)).toBe(true);
    await lab.close();
    expect(existsSync(join(lab.configFile, ".."))).toBe(false);
  });
});
