/** `lesson-dev` as a reader starts it, which takes seconds each time: of what can happen to it one in `pnpm test`, all in `pnpm test:soak`. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { soak, SOAKING } from "@durable-lessons/test-kit/soak";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { APPS } from "./fixture.ts";
import { freePort, PATIENTLY, startDev } from "./lesson-dev.ts";
import { descendantsOf, HAS_PROC, stillRunning } from "./processes.ts";

let apps: string;
beforeEach(async () => {
  // Beside the fixture, so that its imports and its migrations are found.
  apps = await mkdtemp(join(import.meta.dirname, ".tmp-"));
});
afterEach(() => rm(apps, { recursive: true }));

/** What answers beside the lab and the lesson. */
const SCHEDULED = "/cdn-cgi/local/scheduled";
const EXPLORER = "/cdn-cgi/local/explorer/api/workflows";

/** A raw request, since fetch does not let a test choose its Host. */
function answerTo(port: number, method: string, path: string, headers: Record<string, string>) {
  return new Promise<number | undefined>((resolve, reject) => {
    request({ host: "localhost", port, method, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

test("lesson-dev serves lesson and lab, to nobody but this machine and their own pages, keeps the data in the lesson's folder, and leaves nothing else", async () => {
  const lesson = join(apps, "99-fixture");
  const temporary = join(apps, "tmp");
  await cp(join(APPS, "99-fixture"), lesson, { recursive: true });
  await mkdir(temporary);
  const whatToTry = "export const whatToTry = (origin: string) => `Try ${origin}/pitfalls`;";
  await writeFile(join(lesson, "src/what-to-try.ts"), whatToTry);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const dev = startDev(lesson, port, temporary);
  try {
    await dev.says(`\nTry ${url}/pitfalls\n`);
    const pairs = (await (await fetch(`${url}/pitfalls`)).json()) as unknown[];
    expect(pairs).toHaveLength(19);
    // All else is the lesson's, its own page too.
    expect(await (await fetch(url)).text()).toBe("the lesson");
    for (const path of ["/anything?at=all", "/pitfalls-of-something-else"]) {
      const answer = await fetch(url + path, { method: "POST" });
      expect(await answer.text()).toBe("the lesson");
    }
    expect((await fetch(`${url}/pitfalls/no-such-pair`)).status).toBe(404);
    const run = await fetch(`${url}/pitfalls/request-twice/fix`, { method: "POST" });
    expect([run.status, run.headers.get("location")]).toEqual([
      202,
      expect.stringMatching("^/pitfalls/request-twice/fix/"),
    ]);
    expect((await readdir(temporary)).filter((name) => name.startsWith("lab-"))).toHaveLength(1);

    const page = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    const start = "/pitfalls/request-twice/fix";
    for (const [who, method, path, headers, status] of [
      ["the reader's browser", "GET", "/anything", { ...page, "sec-fetch-site": "none" }, 200],
      ["a link in a mail", "GET", "/anything", { ...page, "sec-fetch-site": "cross-site" }, 200],
      ["its own page", "POST", "/anything", { origin: url, "sec-fetch-site": "same-origin" }, 200],
      [
        "its own form, of a page that tells nobody where it is",
        "POST",
        "/anything",
        { ...page, origin: "null", "sec-fetch-site": "same-origin" },
        200,
      ],
      ["another port's script", "POST", start, { origin: "http://localhost:3000" }, 403],
      ["another site's script", "GET", "/anything", { origin: "https://evil.example" }, 403],
      [
        "another site's form",
        "POST",
        "/anything",
        { ...page, "sec-fetch-site": "cross-site" },
        403,
      ],
      ["a picture elsewhere", "GET", "/anything", { "sec-fetch-site": "cross-site" }, 403],
      ["a name that points here", "GET", "/pitfalls", { host: `evil.example:${port}` }, 403],
      ["a name that points here", "GET", "/anything", { host: `evil.example:${port}` }, 403],
      // These two are wrangler's own, and its guard lets other ports of this machine in.
      ["a name that points here", "GET", SCHEDULED, { host: `evil.example:${port}` }, 403],
      ["another site's script", "GET", SCHEDULED, { origin: "https://evil.example" }, 403],
      ["another site's script", "GET", EXPLORER, { origin: "https://evil.example" }, 403],
      ["another port's script", "GET", EXPLORER, { origin: "http://localhost:3000" }, 200],
      ["a picture elsewhere", "GET", EXPLORER, { "sec-fetch-site": "cross-site" }, 200],
    ] as const) {
      const seen = await answerTo(port, method, path, headers);
      expect(`${who}: ${method} ${path}: ${seen}`).toBe(`${who}: ${method} ${path}: ${status}`);
    }
  } finally {
    await dev.stop();
  }
  expect((await readdir(temporary)).filter((name) => name.startsWith("lab-"))).toEqual([]);
  expect(await readdir(join(lesson, ".wrangler/state/v3"))).toEqual(
    expect.arrayContaining(["d1", "workflows"]),
  );
});

/** A lesson whose Workflow has a wait that ends only in another workerd than the one in which it began. */
const SLEEPER = `
import { WorkflowEntrypoint } from "cloudflare:workers";

export class Sleeper extends WorkflowEntrypoint {
  async run(event, step) {
    await step.sleep("a while", 2000);
    return "slept";
  }
}

export default {
  async fetch(request, env) {
    const id = new URL(request.url).pathname.slice(1);
    if (request.method === "POST") await env.SLEEPER.create({ id });
    return Response.json(await (await env.SLEEPER.get(id)).status());
  },
};
`;

test.skipIf(!HAS_PROC)(
  "lesson-dev wakes what a saved file or its own end has left unfinished",
  async () => {
    const lesson = join(apps, "99-fixture");
    await cp(join(APPS, "99-fixture"), lesson, { recursive: true });
    const temporary = join(apps, "tmp");
    await mkdir(temporary);
    const source = join(lesson, "src/index.ts");
    await writeFile(source, SLEEPER);
    const config = join(lesson, "wrangler.jsonc");
    const workflows =
      '"workflows": [{ "name": "sleeper", "binding": "SLEEPER", "class_name": "Sleeper" }],';
    await writeFile(config, (await readFile(config, "utf8")).replace("{", `{ ${workflows}`));
    const port = await freePort();
    const statusOf = async (id: string, method = "GET") => {
      const response = await fetch(`http://localhost:${port}/${id}`, { method });
      const { status }: { status: string } = await response.json();
      return status;
    };
    /** Starts a run, and lets something happen to it before its sleep is over. */
    const leave = async (id: string, happens: () => Promise<void>) => {
      expect(await statusOf(id, "POST")).not.toBe("complete");
      await happens();
    };
    const goesOn = async (dev: ReturnType<typeof startDev>, id: string) => {
      await dev.says(`Woke an unfinished run of sleeper: ${id}\n`);
      await vi.waitFor(async () => expect(await statusOf(id)).toBe("complete"), PATIENTLY);
    };

    let dev = startDev(lesson, port, temporary);
    try {
      await vi.waitFor(() => statusOf("warm-up", "POST"), PATIENTLY);
      await vi.waitFor(async () => expect(await statusOf("warm-up")).toBe("complete"), PATIENTLY);

      const saved = () => writeFile(source, `${SLEEPER}// Saved.\n`);
      const left = async () => {
        await dev.stop();
        dev = startDev(lesson, port, temporary);
      };
      for (const [id, happens] of Object.entries(soak({ saved, left }, { saved }))) {
        await leave(id, happens);
        await goesOn(dev, id);
      }
    } finally {
      await dev.stop();
    }
  },
  400_000,
);

test.skipIf(!HAS_PROC || !SOAKING).each([
  ["lesson-dev", 0],
  ["the wrangler below it", 2],
])("nothing is left where %s is killed with SIGKILL", async (_, depth) => {
  const lesson = join(apps, "99-fixture");
  const temporary = join(apps, "tmp");
  await cp(join(APPS, "99-fixture"), lesson, { recursive: true });
  await mkdir(temporary);
  const port = await freePort();
  const dev = startDev(lesson, port, temporary);
  try {
    await vi.waitFor(
      async () => expect((await fetch(`http://localhost:${port}/pitfalls`)).status).toBe(200),
      PATIENTLY,
    );
    const below = descendantsOf(dev.pid);
    expect(below.filter(({ name }) => name.startsWith("workerd"))).toHaveLength(2);
    let victim = dev.pid;
    for (let level = 0; level < depth; level++) {
      victim = below.find(({ name, parent }) => parent === victim && name !== "sh")?.pid ?? 0;
    }
    process.kill(victim, "SIGKILL");
    await vi.waitFor(() => expect(stillRunning(below)).toEqual([]), PATIENTLY);
  } finally {
    await dev.stop();
  }
});
