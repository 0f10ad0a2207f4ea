/**
 * The package as a team gets it: packed, installed in a Worker outside of this repository, with the oldest tools that the
 * README names and with the newest. The Worker is made of the README's own recipes, and every one gets a duplicate.
 *
 * Slow at any size, since it installs wrangler twice: `pnpm test:soak` runs it, `pnpm check:package` is its quick part.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SOAKING } from "@durable-lessons/test-kit/soak";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

const root = join(import.meta.dirname, "../..");
const require = createRequire(import.meta.url);
const versionOf = (name: string): string => require(`${name}/package.json`).version;
const readme = await readFile(join(root, "README.md"), "utf8");
const [, oldestWrangler = "none"] = /wrangler (\d[\d.]+\d)/.exec(readme) ?? [];
const [, oldestTypes = "none"] = /`@cloudflare\/workers-types` (\d[\d.]+\d)/.exec(readme) ?? [];
const SETS = [
  { tools: "oldest", wrangler: oldestWrangler, types: oldestTypes },
  {
    tools: "newest",
    wrangler: versionOf("wrangler"),
    types: versionOf("@cloudflare/workers-types"),
  },
];

/** The commands must not take this repository for theirs, nor wait for an answer. */
const env: NodeJS.ProcessEnv = { ...process.env, CI: "true", WRANGLER_SEND_METRICS: "false" };
delete env["NODE_OPTIONS"];
const PATIENTLY = { timeout: 120_000, interval: 100 };

let folder: string;
beforeAll(async () => {
  if (!SOAKING) return;
  folder = await mkdtemp(join(tmpdir(), "fresh-worker-"));
  await run("pnpm", ["pack", "--out", join(folder, "package.tgz")], root);
});
afterAll(() => (folder ? rm(folder, { recursive: true, force: true }) : undefined));

/** @throws with all that the command has printed */
async function run(command: string, args: string[], cwd: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd, env });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")}\n${stdout}${stderr}`, { cause: error });
  }
}

/** The recipes, each under the name that its first line says. */
function recipes(): [path: string, code: string][] {
  const blocks = [...readme.matchAll(/^```ts\n\/\/ (src\/\S+)\n([^]*?)^```$/gm)];
  return blocks.map(([, path = "", code = ""]) => [path, code]);
}

const INDEX = `
import { createInstancesOnce, instanceIdFor } from "@durable-lessons/idempotency";
import { charge } from "./charge.js";
import consumer from "./consumer.js";
import { startOrder } from "./order-workflow.js";
export { OrderWorkflow } from "./order-workflow.js";

interface Env {
  DB: D1Database;
  API: string;
  WELCOMES: Queue;
  ORDERS: Workflow<{ orderId: string; amount: number }>;
}

export default {
  async queue(batch: MessageBatch<{ userId: string; email: string }>, env: Env) {
    await consumer.queue(batch, env);
    for (const { id } of batch.messages) await fetch(env.API + "/handled", { method: "POST", headers: { "idempotency-key": id } });
  },
  async fetch(request: Request, env: Env): Promise<Response> {
    const order = { orderId: "o_1", amount: 7 };
    switch (new URL(request.url).pathname) {
      case "/welcome":
        await env.WELCOMES.send(await request.json());
        return new Response(null, { status: 202 });
      case "/charge":
        return charge(request, env, "u_42");
      case "/order":
        return Response.json(await startOrder(env.ORDERS, order));
      case "/orders": {
        const id = await instanceIdFor("order", order.orderId);
        return Response.json(await createInstancesOnce(env.ORDERS, [{ id }]));
      }
      default:
        return new Response("ready");
    }
  },
};
`;

/** Writes a Worker as one that C3 makes, with the recipes in it. */
async function writeWorker(
  worker: string,
  { wrangler, types }: (typeof SETS)[number],
  api: string,
): Promise<void> {
  await mkdir(join(worker, "src"), { recursive: true });
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  const tsconfig = (module: string, moduleResolution: string) =>
    json({
      compilerOptions: {
        target: "es2022",
        lib: ["es2022"],
        module,
        moduleResolution,
        types: ["@cloudflare/workers-types"],
        noEmit: true,
        strict: true,
        isolatedModules: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        // The package's declarations are to be checked, too. Those of the tools are in them.
        skipLibCheck: false,
      },
      include: ["src"],
    });
  const files: [path: string, text: string][] = [
    ...recipes(),
    ["src/index.ts", INDEX],
    [
      "package.json",
      json({
        name: "fresh-worker",
        private: true,
        type: "module",
        dependencies: { "@durable-lessons/idempotency": "file:../package.tgz" },
        devDependencies: {
          "@cloudflare/workers-types": types,
          typescript: versionOf("typescript"),
          wrangler,
        },
      }),
    ],
    ["pnpm-workspace.yaml", "allowBuilds:\n  esbuild: false\n  workerd: false\n  sharp: false\n"],
    ["tsconfig.bundler.json", tsconfig("esnext", "bundler")],
    ["tsconfig.nodenext.json", tsconfig("nodenext", "nodenext")],
    [
      "wrangler.jsonc",
      json({
        name: "fresh-worker",
        main: "src/index.ts",
        compatibility_date: "2026-10-01",
        vars: { API: api },
        d1_databases: [{ binding: "DB", database_name: "fresh", database_id: "fresh" }],
        queues: {
          producers: [{ binding: "WELCOMES", queue: "welcomes" }],
          consumers: [{ queue: "welcomes", max_batch_size: 10, max_batch_timeout: 1 }],
        },
        workflows: [{ binding: "ORDERS", name: "orders", class_name: "OrderWorkflow" }],
      }),
    ],
  ];
  for (const [path, text] of files) await writeFile(join(worker, path), text);
}

/** The outside world: it counts what it is asked for, by path and key. */
async function startProvider() {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.url} ${String(request.headers["idempotency-key"])}`);
    request.resume();
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ receipt: `r_${calls.length}` }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    to: (path: string) => calls.filter((call) => call.startsWith(`${path} `)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Starts `wrangler dev` in a process group of its own, and waits until its Worker answers. */
async function startDev(worker: string, wrangler: string) {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [wrangler, "dev", "--port", String(port), "--inspector-port", String(await freePort())],
    { cwd: worker, env, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  );
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
  }
  const ended = once(child, "exit");
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
    await ended;
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await vi.waitFor(async () => {
      if (child.exitCode !== null) return;
      expect(await (await fetch(url)).text()).toBe("ready");
    }, PATIENTLY);
    if (child.exitCode !== null) throw new Error(`wrangler dev ended:\n${output.join("")}`);
  } catch (error) {
    await stop();
    throw new Error(`wrangler dev never answered:\n${output.join("")}`, { cause: error });
  }
  return {
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) }),
    [Symbol.asyncDispose]: stop,
  };
}

describe.each(SETS)("a fresh Worker with the $tools tools, wrangler $wrangler", (set) => {
  test("checks, migrates and runs, and a duplicate of everything has one effect", async ({
    skip,
  }) => {
    skip(!SOAKING);
    await using provider = await startProvider();
    const worker = join(folder, set.tools);
    await writeWorker(worker, set, provider.url);
    await run("pnpm", ["install", "--no-frozen-lockfile", "--prefer-offline"], worker);
    const wrangler = join(worker, "node_modules/wrangler/bin/wrangler.js");
    expect(await run(process.execPath, [wrangler, "--version"], worker)).toContain(set.wrangler);

    for (const resolution of ["bundler", "nodenext"]) {
      const tsc = join(worker, "node_modules/typescript/bin/tsc");
      await run(process.execPath, [tsc, "-p", `tsconfig.${resolution}.json`], worker);
    }

    const migrations = "node_modules/@durable-lessons/idempotency/migrations";
    await cp(join(worker, migrations), join(worker, "migrations"), { recursive: true });
    await run(process.execPath, [wrangler, "d1", "migrations", "apply", "DB", "--local"], worker);
    await using dev = await startDev(worker, wrangler);

    const welcome = { userId: "u_42", email: "ada@example.com" };
    for (let n = 0; n < 3; n++) expect((await dev.post("/welcome", welcome)).status).toBe(202);
    await vi.waitFor(() => expect(new Set(provider.to("/handled")).size).toBe(3), PATIENTLY);
    expect(provider.to("/mails")).toEqual(["/mails welcome:u_42"]);

    const charge = (amount: number) => dev.post("/charge", { amount }, { "idempotency-key": "k1" });
    const receipts = [await charge(7), await charge(7)];
    expect(receipts.map(({ status }) => status)).toEqual([200, 200]);
    const [first, second] = await Promise.all(receipts.map((receipt) => receipt.text()));
    expect(first).toMatch(/"receipt":"r_\d+"/);
    expect(second).toBe(first);
    expect((await charge(8)).status).toBe(422);
    expect(provider.to("/charges")).toEqual(["/charges charge:u_42:k1"]);

    const starts = [await dev.post("/order", {}), await dev.post("/order", {})];
    expect(await Promise.all(starts.map((start) => start.json()))).toEqual([true, false]);
    expect(await (await dev.post("/orders", {})).json()).toEqual([
      { id: "order-o_1", outcome: "existing" },
    ]);
    await vi.waitFor(
      () =>
        expect(provider.to("/charges").slice(1)).toEqual([
          "/charges orders:order-o_1:charge%20card:1",
        ]),
      PATIENTLY,
    );
  });
});
