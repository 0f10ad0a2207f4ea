import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type Variant, VARIANTS } from "@durable-lessons/lab";
import { readLessons } from "@durable-lessons/lab/runner";
import { soak, SOAKING } from "@durable-lessons/test-kit/soak";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readGauntlet } from "../.vitepress/lab/gauntlet-files.ts";
import type { StreamedGauntlet, StreamedProgress } from "../.vitepress/lab/lab-server.ts";
import { lines } from "../.vitepress/theme/lab-client.ts";
import { descendantsOf, DevServer, isAlive, VITEPRESS } from "./dev-server.ts";

const root = join(import.meta.dirname, "..", "..");
const PAIR = "01/side-effect-outside-step";

let server: DevServer;
beforeAll(async () => {
  server = await DevServer.start();
});
afterAll(async () => {
  await server.interrupt();
});

/** Reads a run's stream to its end; presses the button where the run waits for it. */
async function runPair(name: string): Promise<StreamedProgress[]> {
  const response = await server.ask("run", { pair: name });
  expect(response.status, await (response.ok ? "" : response.text())).toBe(200);
  const seen: StreamedProgress[] = [];
  let rest = "";
  let asked: Promise<Response> | undefined;
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) seen.push(JSON.parse(line));
    if (seen.filter(({ type }) => type === "crash-point").length === 2) {
      asked ??= server.ask("crash", { lesson: name.slice(0, 2) });
    }
  }
  expect((await asked)?.status ?? 200).toBe(200);
  return seen;
}

const resultOf = (seen: StreamedProgress[]) => {
  const compared = seen.find((event) => event.type === "pair-compared");
  if (!compared) throw new Error(`It was not compared: ${JSON.stringify(seen.at(-1))}`);
  return compared.result;
};

/** A raw request, since fetch does not let a test choose its Host, nor a path that is none. */
const rawly = (path: string, headers: Record<string, string>, method = "GET") =>
  new Promise<{ status: number | undefined; cors: string | undefined; text: string }>(
    (resolve, reject) => {
      const asking = request(
        { host: "127.0.0.1", port: server.port, path, method, headers },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.on("end", () => {
            const cors = response.headers["access-control-allow-origin"];
            resolve({ status: response.statusCode, cors, text });
          });
        },
      );
      asking
        .on("error", reject)
        .end(method === "POST" ? JSON.stringify({ pair: PAIR }) : undefined);
    },
  );

/** What a browser says of a page that it opens. */
const opened = (site: string) => ({
  accept: "text/html",
  "sec-fetch-site": site,
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
});

describe("the site's own pages", () => {
  test.each([
    ["an address that is typed in", opened("none")],
    ["a link on another site", opened("cross-site")],
    ["a program on this machine", { accept: "text/html" }],
  ])("are given to %s", async (_, headers) => {
    const { status, cors, text } = await rawly("/lessons/01-onboarding-workflow", headers);
    expect({ status, cors }).toEqual({ status: 200, cors: undefined });
    expect(text).toContain('<div id="app">');
  });

  test.each(["/.vitepress/theme/index.ts", `/@fs${root}/packages/lab/src/pair.ts`])(
    "are made of %s",
    async (path) => {
      expect(await rawly(path, { "sec-fetch-site": "same-origin" })).toMatchObject({ status: 200 });
    },
  );

  test.each([
    ["another port's script", { origin: "http://localhost:3000" }],
    ["another site's script", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    [
      "a script tag on another site",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
    ],
    ["a frame in another page", { ...opened("same-site"), "sec-fetch-dest": "iframe" }],
    ["a name that points here", { ...opened("none"), host: "evil.example" }],
  ])("are not given to %s", async (_, headers) => {
    for (const path of ["/", "/index.md", "/.vitepress/theme/index.ts", "/no-such-page"]) {
      for (const method of ["GET", "OPTIONS"]) {
        const { status, cors } = await rawly(path, headers, method);
        expect({ path, status, cors }).toEqual({ path, status: 403, cors: undefined });
      }
    }
  });

  test.each(["//", "//x/y", "/%", "/%E0%A4%A", "/?%"])("are not at %s", async (path) => {
    const { status, text } = await rawly(path, {});
    expect(status).toBe(404);
    expect(text).not.toContain(root);
  });
});

describe("a file of which no page is made", () => {
  const SECRET = "A_SECRET=42";
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(import.meta.dirname, "tmp-"));
    for (const name of [".dev.vars", ".dev.vars.local", ".env", ".env.production"]) {
      await writeFile(join(folder, name), SECRET);
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  const QUERIES = ["", "?raw", "?import&raw", "?url", "?inline&import", "?raw??", "?import&raw??"];

  test.each([".dev.vars", ".dev.vars.local", ".env", ".env.production"])(
    "is not given out, though its folder is: %s",
    async (name) => {
      const below = join(folder, name).slice(join(root, "docs").length);
      const written = [name, `%2e${name.slice(1)}`, `./${name}`, `x/..%2f${name}`, `x/../${name}`];
      for (const path of [below, `/@fs${join(folder, name)}`]) {
        for (const form of written) {
          for (const query of QUERIES) {
            const asked = path.slice(0, -name.length) + form + query;
            const { status, text } = await rawly(asked, { "sec-fetch-site": "same-origin" });
            expect(text, asked).not.toContain(SECRET);
            expect([403, 404], `${asked}: ${status}`).toContain(status);
          }
        }
      }
    },
  );

  test.each([
    ".git/config",
    ".git",
    "apps/06-ai-review/wrangler.jsonc",
    "apps/06-ai-review/src/index.ts",
    "apps/06-ai-review/.dev.vars",
    "packages/lab/test/guard.test.ts",
    "package.json",
    relative(root, "/etc/passwd"),
  ])("is not given out: %s", async (file) => {
    for (const query of QUERIES) {
      const asked = `/@fs${root}/${file}${query}`;
      const { status, text } = await rawly(asked, { "sec-fetch-site": "same-origin" });
      expect({ asked, status, isLong: text.length > 2000 }).toEqual({
        asked,
        status: 403,
        isLong: false,
      });
    }
  });
});

test.skipIf(!SOAKING)(
  "`pnpm dev` does not move to another port: it says that its own is taken",
  async () => {
    const { scripts } = JSON.parse(await readFile(join(root, "docs", "package.json"), "utf8"));
    const words: string[] = scripts.dev.replace("8700", String(server.port)).split(" ");
    const child = spawn(process.execPath, [VITEPRESS, ...words.slice(1)], {
      cwd: join(root, "docs"),
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        // It has moved, and would serve until it is ended.
        if (text.includes("Local")) child.kill();
      });
    }
    const [code] = await once(child, "close");
    expect(text).toContain(`Port ${server.port} is already in use`);
    expect(code).toBe(1);
  },
);

describe("nobody else", () => {
  const json = { "content-type": "application/json" };

  test.each([
    ["another site", { ...json, origin: "https://evil.example" }, 403],
    ["another site without an Origin", { ...json, "sec-fetch-site": "cross-site" }, 403],
    ["a name that points here", { ...json, host: "evil.example" }, 403],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, 415],
  ])("may run anything: %s", async (_, headers, status) => {
    expect((await rawly("/__lab/run", headers, "POST")).status).toBe(status);
    expect(server.descendants.length, "something was started").toBe(idle);
  });

  let idle = 0;
  beforeAll(() => {
    idle = server.descendants.length;
  });

  test("reaches the server at another address of this machine", async () => {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: "127.0.0.2", port: server.port });
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    expect(reached).toBe(false);
  });

  test.each([
    ["another Origin", { origin: "http://localhost:3000" }],
    ["a name that points here", { host: "evil.example" }],
  ])("is told when a page changes: %s", async (_, headers) => {
    const upgraded = await new Promise<boolean>((resolve) => {
      request({
        host: "127.0.0.1",
        port: server.port,
        headers: {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
          "sec-websocket-protocol": "vite-hmr",
          ...headers,
        },
      })
        .on("upgrade", (response, socket) => {
          socket.destroy();
          resolve(response.statusCode === 101);
        })
        .on("response", (response) => {
          response.resume();
          resolve(false);
        })
        .on("error", () => resolve(false))
        .end();
    });
    expect(upgraded).toBe(false);
  });

  test("gets leave from another origin by asking first", async () => {
    const response = await fetch(`${server.url}/__lab/run`, {
      method: "OPTIONS",
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("a wrong call", () => {
  test.each([
    ["a pair that is not there", "run", { pair: "01/no-such" }, 'no pair "no-such"'],
    ["a lesson that is not there", "run", { pair: "99/no-such" }, 'no lesson "99"'],
    ["a path", "run", { pair: "../../etc" }, "no lesson"],
    ["a whole lesson", "run", { pair: "01" }, "one pair"],
    ["no pair", "run", {}, "Name a lesson or a pair"],
    ["no JSON", "run", "{", "not JSON"],
    ["no object", "run", "1", "no object"],
    ["a long body", "run", { pair: "0".repeat(2000) }, "too long"],
    ["the gauntlet of a whole lesson", "gauntlet", { pair: "01" }, "one pair"],
    ["a crash of nothing", "crash", { lesson: "01" }, "Nothing of this lesson is running"],
  ])("is refused: %s", async (_, action, body, message) => {
    const response = await server.ask(action, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: expect.stringContaining(message) });
  });

  test("of something else is not found", async () => {
    expect((await server.ask("stop", {})).status).toBe(404);
  });
});

test("the pairs of lesson 1 give the same evidence here and in `compare --json`", async () => {
  const lessons = await readLessons(join(root, "apps"));
  const all = lessons.find(({ id }) => id.startsWith("01"))?.pairs ?? [];
  const pairs = soak(all, all.slice(0, 2));
  const here = await Promise.all(pairs.map(({ id }) => runPair(`01/${id}`)));

  const cli = join(root, "packages", "lab", "src", "cli.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [
    cli,
    ...pairs.map(({ id }) => `01/${id}`),
    "--json",
  ]);
  const there: { pair: string; ok: boolean; variants: Record<Variant, Record<string, unknown>> }[] =
    JSON.parse(stdout);

  expect(there.map(({ pair }) => pair)).toEqual(pairs.map(({ id }) => id));
  for (const [index, seen] of here.entries()) {
    const { pair, ok, variants } = resultOf(seen);
    const other = there[index];
    expect({ pair: pair.id, ok }).toEqual({ pair: other?.pair, ok: true });
    for (const variant of VARIANTS) {
      const { status, evidence, expected, differences } = variants[variant];
      expect({ status, evidence, expected, differences }).toEqual({
        status: other?.variants[variant]["status"],
        evidence: other?.variants[variant]["evidence"],
        expected: other?.variants[variant]["expected"],
        differences: [],
      });
    }
  }
  // One crash served them all, whoever asked for it.
  const crashes = here.flatMap((seen) => seen.filter((event) => event.type === "crashed"));
  expect(new Set(crashes.map(({ pidBefore }) => pidBefore)).size).toBe(1);
});

test("a changed source ends the lesson's runtime, and the next run takes the new code", async () => {
  const pidOf = (seen: StreamedProgress[]) =>
    seen.find((event) => event.type === "ready")?.pid ?? Number.NaN;
  const first = pidOf(await runPair("01/double-submit"));
  expect(isAlive(first)).toBe(true);
  // As an editor does it that saves what was there: the tree stays clean.
  const source = join(root, "apps/01-onboarding-workflow/src/pitfalls/double-submit/fix.ts");
  await utimes(source, new Date(), new Date());
  await expect.poll(() => isAlive(first), { timeout: 20_000 }).toBe(false);

  const again = await runPair("01/double-submit");
  expect(resultOf(again).ok).toBe(true);
  expect(pidOf(again)).not.toBe(first);
});

/** Starts the gauntlet of a pair with few trials. The lines of its stream are read one by one. */
async function startGauntlet(leaving = new AbortController()) {
  const response = await fetch(`${server.url}/__lab/gauntlet`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ pair: "01/insert-that-cannot-repeat" }),
    signal: leaving.signal,
  });
  expect(response.status, await (response.ok ? "" : response.text())).toBe(200);
  if (!response.body) throw new Error("It has no body.");
  return lines<StreamedGauntlet>(response.body);
}

test("the gauntlet of a pair gives what is recorded of it", async () => {
  const seen = await Array.fromAsync(await startGauntlet());
  const recording = await readGauntlet(join(root, "docs"), "01-onboarding-workflow");
  const recorded = recording?.pairs.find(({ pair }) => pair === "insert-that-cannot-repeat");
  expect(seen.at(-1)).toEqual({ type: "judged", grid: recorded?.grid });
  const planned = seen.map((line) =>
    line.type === "starting" ? line.variants : line.type === "trials" ? line.count : 0,
  );
  expect(seen.filter(({ type }) => type === "trial-ended")).toHaveLength(
    planned.reduce((sum, count) => sum + count, 0),
  );
});

test("whoever leaves a gauntlet ends its runtime, and no other", async () => {
  const others = server.runtimes;
  const leaving = new AbortController();
  for await (const { type } of await startGauntlet(leaving)) if (type === "trial-ended") break;
  const own = server.runtimes.filter((pid) => !others.includes(pid));
  expect(own.length).toBeGreaterThan(0);
  leaving.abort();
  await expect.poll(() => own.filter(isAlive), { timeout: 60_000 }).toEqual([]);
  expect(others.filter((pid) => !isAlive(pid))).toEqual([]);
});

test("Ctrl-C leaves no process behind, although a run waits for its crash, and trials are under way", async () => {
  const trials = await startGauntlet();
  for (let line = await trials.next(); line.value?.type !== "trial-ended";) {
    if (line.done) throw new Error("It ended before its first trial.");
    line = await trials.next();
  }
  const response = await server.ask("run", { pair: PAIR });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while ((text.match(/"crash-point"/g) ?? []).length < 2) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`It ended before its crash point: ${text}`);
    text += value;
  }
  const [, pid = ""] = /"ready".*?"pid":(\d+)/.exec(text) ?? [];
  const before = server.descendants;
  expect(before).toContain(Number(pid));

  await server.interrupt();
  await reader?.cancel().catch(() => undefined);
  await trials.return(undefined).catch(() => undefined);
  await expect.poll(() => before.filter(isAlive), { timeout: 10_000 }).toEqual([]);
});

/** Asks a server to run a pair, and waits until its runtime is up. */
async function runtimeOf(url: string): Promise<number> {
  const response = await fetch(`${url}/__lab/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ pair: PAIR }),
  });
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('"ready"')) break;
  }
  const [, pid = ""] = /"ready".*?"pid":(\d+)/.exec(text) ?? [];
  return Number(pid);
}

// Servers of their own: in `pnpm test:soak`.
test.skipIf(!SOAKING)("a server that is killed with SIGKILL leaves no process behind", async () => {
  const alone = await DevServer.start({ endsWithParent: false });
  const runtime = await runtimeOf(alone.url);
  const before = alone.descendants;
  expect(before).toContain(runtime);
  await alone.kill();
  await expect.poll(() => before.filter(isAlive), { timeout: 10_000 }).toEqual([]);
});

test.skipIf(!SOAKING)(
  "a test run that is killed takes its server with it, and the runtime below",
  async () => {
    const devServer = pathToFileURL(join(import.meta.dirname, "dev-server.ts")).href;
    const testRun = spawn(
      process.execPath,
      [
        "--input-type=module",
        "--eval",
        `const { DevServer } = await import(${JSON.stringify(devServer)});
       process.send((await DevServer.start()).url);`,
      ],
      { stdio: ["ignore", "inherit", "inherit", "ipc"] },
    );
    const [url] = await Promise.race([
      once(testRun, "message"),
      once(testRun, "exit").then(() => Promise.reject(new Error("It started no server."))),
    ]);
    const runtime = await runtimeOf(url);
    const before = descendantsOf(testRun.pid ?? 0);
    expect(before).toContain(runtime);

    testRun.kill("SIGKILL");
    await expect.poll(() => before.filter(isAlive), { timeout: 10_000 }).toEqual([]);
  },
);
