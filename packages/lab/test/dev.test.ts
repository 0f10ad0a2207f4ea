import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { APPS } from "./fixture.ts";

const DEV = join(import.meta.dirname, "../src/dev.ts");

let apps: string;
beforeEach(async () => {
  // Beside the fixture, so that its imports and its migrations are found.
  apps = await mkdtemp(join(import.meta.dirname, ".tmp-"));
});
afterEach(() => rm(apps, { recursive: true }));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

test("lesson-dev serves lesson and lab, keeps the data in the lesson's folder, and leaves nothing else", async () => {
  const lesson = join(apps, "99-fixture");
  const temporary = join(apps, "tmp");
  await cp(join(APPS, "99-fixture"), lesson, { recursive: true });
  await mkdir(temporary);
  const whatToTry = "export const whatToTry = (origin: string) => `Try ${origin}/pitfalls`;";
  await writeFile(join(lesson, "src/what-to-try.ts"), whatToTry);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const dev = spawn(process.execPath, [DEV, "--port", String(port)], {
    cwd: lesson,
    env: {
      ...process.env,
      TMPDIR: temporary,
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      WRANGLER_SEND_METRICS: "false",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(dev, "exit");
  let output = "";
  dev.stdout.on("data", (chunk) => (output += String(chunk)));
  dev.stderr.on("data", (chunk) => (output += String(chunk)));
  try {
    await vi.waitFor(() => expect(output).toContain(`\nTry ${url}/pitfalls\n`), {
      timeout: 50_000,
    });
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
  } finally {
    dev.kill("SIGTERM");
    await ended;
  }
  expect((await readdir(temporary)).filter((name) => name.startsWith("lab-"))).toEqual([]);
  expect(await readdir(join(lesson, ".wrangler/state/v3"))).toEqual(
    expect.arrayContaining(["d1", "workflows"]),
  );
});
