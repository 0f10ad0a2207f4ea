/**
 * `pnpm dev` of each lesson with a Workflow: what is under way when workerd is killed and the server started again, and when
 * a file is saved, goes on without a command. In `pnpm test` the lab's own fixture stands for all, in `pnpm test:soak` one
 * lesson does. Each takes up to a minute: LESSONS=all pnpm test:soak takes all of them.
 */
import { mkdtemp, readFile, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseEnv } from "node:util";
import type { RunningLesson } from "@durable-lessons/lab/flow";
import { type LessonFolder, readFlows } from "@durable-lessons/lab/runner";
import {
  callsOf,
  hangingCalls,
  type Operation,
  scriptFaults,
} from "@durable-lessons/outside-world";
import { SOAKING } from "@durable-lessons/test-kit/soak";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { getPlatformProxy } from "wrangler";
import { freePort, PATIENTLY, startDev } from "../../packages/lab/test/lesson-dev.ts";

const apps = join(import.meta.dirname, "../../apps");
const TOKEN = "token-of-a-test-of-the-dev-servers";

/** Something that a lesson does, and how far it is. */
interface Work {
  /** Its instance's id. */
  run: string;
  isUnderWay(): Promise<boolean>;
  hasGoneOn(): Promise<boolean>;
}
type Bindings = { WORLD: D1Database; FILES: R2Bucket };
type Begin = (lesson: LessonFolder, send: RunningLesson["send"], env: Bindings) => Promise<Work>;

/** Starts the lesson's first flow. Its provider does not answer the first call of an operation. */
const hangingIn =
  (operation: Operation): Begin =>
  async (lesson, send, { WORLD }) => {
    const [flow] = (await readFlows(lesson))?.flows ?? [];
    if (!flow) throw new Error(`${lesson.id} has no flow.`);
    const id = crypto.randomUUID().slice(0, 8);
    const run = await flow.runOf(id);
    await scriptFaults(WORLD, run, { [operation]: ["hang"] });
    expect((await flow.start({ send, env: notHere }, id)).status).toBe(202);
    const calls = async () =>
      (await callsOf(WORLD, run)).filter((call) => call.operation === operation);
    return {
      run,
      isUnderWay: async () => (await hangingCalls(WORLD, run)).includes(operation),
      hasGoneOn: async () => (await calls()).some(({ fault }) => fault === null),
    };
  };

/** Loads a day with so many files that it is still at work when something happens to it. */
const loadingFiles: Begin = async (lesson, send, { FILES }) => {
  const day = dayOf((days += 1));
  const { generate } = await imported<{ generate: Generate }>(lesson, "scripts/generate.ts");
  const { incoming } = await imported<{ incoming: (day: string) => string }>(
    lesson,
    "src/files.ts",
  );
  for (const { file, bytes } of generate({ day, seed: 1, files: 40, rows: 1000 })) {
    await FILES.put(incoming(day) + file, bytes);
  }
  const authorization = `Bearer ${TOKEN}`;
  const started = await send("POST", "/runs", { day }, { authorization });
  const { instanceId }: { instanceId: string } = await started.json();
  const statusIs = async (wanted: string) => {
    const response = await send("GET", `/runs/${day}`, undefined, { authorization });
    const { instance } = await response.json<{ instance: { status: string } }>();
    return instance.status === wanted;
  };
  return {
    run: instanceId,
    isUnderWay: () => statusIs("running"),
    hasGoneOn: () => statusIs("complete"),
  };
};
type Generate = (options: Record<"files" | "rows" | "seed", number> & { day: string }) => Iterable<{
  file: string;
  bytes: Uint8Array;
}>;
let days = 0;
const dayOf = (nth: number) => new Date(Date.UTC(2026, 0, nth)).toISOString().slice(0, 10);

const LESSONS: [string, Begin][] = [
  ["01-onboarding-workflow", hangingIn("mail.send")],
  ["02-order-workflow", hangingIn("payments.charge")],
  ["04-queue-to-workflow", hangingIn("payments.charge")],
  ["05-etl-pipeline", loadingFiles],
  ["06-ai-review", hangingIn("model.run")],
];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "dev-of-lessons-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const CHOSEN = LESSONS.filter(
  ([lesson]) => process.env["LESSONS"] === "all" || lesson.startsWith("02"),
);

test.skipIf(!SOAKING).for(CHOSEN)(
  "%s: what was under way goes on after a SIGKILL and a new start, and after a file was saved",
  { timeout: 400_000 },
  async ([id, begin]) => {
    const dir = join(apps, id);
    const lesson = { id, dir };
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const options = [...(await optionsOf(lesson)), "--persist-to", join(folder, "state")];
    const start = async () => {
      const server = startDev(dir, port, folder, options);
      await vi.waitFor(async () => {
        expect((await fetch(origin, { headers: { accept: "text/plain" } })).status).toBe(200);
      }, PATIENTLY);
      return server;
    };
    const send: RunningLesson["send"] = (method, path, body, headers) =>
      fetch(origin + path, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });

    let dev = await start();
    const { env, dispose } = await getPlatformProxy<Bindings>({
      configPath: join(dir, "wrangler.jsonc"),
      persist: { path: join(folder, "state", "v3") },
    });
    /** Starts something, lets something happen to it, and waits until it has gone on. */
    const leave = async (happens: () => Promise<void>) => {
      const work = await begin(lesson, send, env);
      await vi.waitUntil(work.isUnderWay, PATIENTLY);
      const before = dev;
      const said = dev.output.length;
      await happens();
      const words = () => dev.output.slice(dev === before ? said : 0);
      const woken = new RegExp(`^Woke .*${work.run}`, "m");
      await vi.waitFor(() => expect(words()).toMatch(woken), PATIENTLY);
      await vi.waitUntil(work.hasGoneOn, PATIENTLY);
    };
    try {
      await leave(async () => {
        dev.kill();
        await dev.stop();
        dev = await start();
      });
      // The same bytes: wrangler looks at the time.
      await leave(() => utimes(join(dir, "src/index.ts"), new Date(), new Date()));
    } finally {
      await dispose();
      await dev.stop();
    }
  },
);

/** How `pnpm dev` calls `lesson-dev`, with the secrets that the lesson's flows know. */
async function optionsOf(lesson: LessonFolder): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(lesson.dir, "package.json"), "utf8")) as {
    scripts: { dev: string };
  };
  const words = scripts.dev.match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
  const given = words.slice(1).map((word) => word.replaceAll('"', ""));
  const known = (await readFlows(lesson))?.vars ?? {};
  const secrets = Object.keys(
    parseEnv(given.filter((_, nth) => given[nth - 1] === "--secret").join("\n")),
  ).filter((name) => name in known || name.endsWith("_TOKEN"));
  return [
    // Its port is the test's own.
    ...given.slice(given.indexOf("--port") + 2),
    ...secrets.flatMap((name) => ["--secret", `${name}=${known[name] ?? TOKEN}`]),
  ];
}

const imported = async <Module>({ dir }: LessonFolder, file: string): Promise<Module> =>
  import(pathToFileURL(join(dir, file)).href) as Promise<Module>;

function notHere(): never {
  throw new Error("The bindings of a dev server are its own.");
}
