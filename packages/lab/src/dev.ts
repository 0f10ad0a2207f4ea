#!/usr/bin/env node
/**
 * `lesson-dev --port N [--persist-to DIR] [--secret NAME=value] [--var NAME=value] …`: what `pnpm dev` does in a lesson. Applies
 * the local migrations of its D1 databases, starts `wrangler dev` with the lab in front of the lesson, and says which URLs to
 * try: what the lab answers to `GET /` with `accept: text/plain`. Runs that a restart has left unfinished are woken, as in
 * production. A secret is a value for this machine only: it reaches the Workers that name it under `secrets.required`, unless
 * the lesson's folder has a `.dev.vars` with another value. `RANDOM` at its end is made at random once, and kept beside the local
 * state: nothing that is published opens anything. A var takes the place of the deployed one, so that what waits for hours in production
 * waits for seconds here.
 */
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join, relative, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs, parseEnv } from "node:util";
import { experimental_readRawConfig } from "wrangler";
import { labWorker } from "./runner/lab-worker.ts";
import { localSecrets, madeAtRandom } from "./runner/local-secrets.ts";
import { lessonConfigs } from "./runner/lesson-configs.ts";
import { readLesson } from "./runner/read-lesson.ts";
import { wakeUnfinished } from "./runner/wake-unfinished.ts";
import { BOOT_PATH } from "./worker/boot.ts";

const lesson = process.cwd();
const { values } = parseArgs({
  options: {
    port: { type: "string" },
    "persist-to": { type: "string", default: join(".wrangler", "state") },
    secret: { type: "string", multiple: true, default: [] },
    var: { type: "string", multiple: true, default: [] },
  },
});
const port = Number(values.port);
if (!Number.isInteger(port)) throw new Error("Call it with --port and a number.");
/** How often it is looked whether workerd is another one. */
const LOOK_MS = 500;
const origin = `http://localhost:${port}`;

const named = (pairs: string[]) =>
  Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name, value.join("=")];
    }),
  );
const configs = await lessonConfigs(lesson);
const ofReader = parseEnv(await readFile(join(lesson, ".dev.vars"), "utf8").catch(() => ""));
const secrets = {
  ...(await localSecrets(named(values.secret), resolve(lesson, values["persist-to"]))),
  ...ofReader,
};
const vars = named(values.var);
// Without a path wrangler keeps its state beside the first configuration, which is a temporary one.
const persistTo = ["--persist-to", values["persist-to"]];

const requireHere = createRequire(join(lesson, "package.json"));
const wranglerBin = join(requireHere.resolve("wrangler/package.json"), "..", "bin", "wrangler.js");
// Nothing is left where this process is killed.
const endsWithParent = import.meta.resolve("@durable-lessons/crash-test/ends-with-parent");
const wrangler = (args: string[], stdin: "ignore" | "inherit") =>
  spawn(process.execPath, ["--import", endsWithParent, wranglerBin, ...args], {
    cwd: lesson,
    env: { ...process.env, ...secrets },
    stdio: [stdin, "inherit", "inherit", "ipc"],
  });

const folder = { id: basename(lesson), dir: lesson };
const { pairs, broken } = await readLesson(folder);
for (const { file, line = 1, message } of broken) {
  process.stderr.write(`Left out: ${relative(lesson, file)}:${line}: ${message}\n`);
}
const migrated = new Set<string>();
for (const { file, databases } of configs) {
  for (const { binding, database_id: id } of databases) {
    if (migrated.has(id)) continue;
    migrated.add(id);
    // Without a terminal wrangler does not ask whether it may.
    const args = ["d1", "migrations", "apply", binding, "--local", "-c", file, ...persistTo];
    const code = await ended(wrangler(args, "ignore"));
    if (code !== 0) process.exit(code);
  }
}

const { configFile, close } = await labWorker(folder, pairs, { isInFront: true, vars });
const devConfigs = configs.map(({ file }) => devConfigOf(file));
const files = [configFile, ...devConfigs].flatMap((file) => ["-c", file]);
process.once("exit", () =>
  devConfigs.forEach((file) => file.startsWith(".") && rmSync(file, { force: true })),
);
// Ctrl-C reaches wrangler too; it ends workerd and itself.
process.on("SIGINT", () => undefined).on("SIGTERM", () => dev.kill("SIGTERM"));
const dev = wrangler(["dev", ...files, "--port", String(port), ...persistTo], "inherit");
void attend();
process.exitCode = await ended(dev);
await close();

/**
 * Writes a configuration with the vars of this machine in the place of those that are deployed, beside the one that is
 * deployed, so that its paths and a `.dev.vars` are found. `wrangler dev --var` would reach the first Worker only.
 *
 * @returns its name
 */
function devConfigOf(file: string): string {
  const { rawConfig } = experimental_readRawConfig({ config: join(lesson, file) });
  const own = Object.keys(rawConfig.vars ?? {}).filter((name) => name in vars);
  if (own.length === 0) return file;
  const ours = Object.fromEntries(own.map((name) => [name, vars[name]]));
  const derived = `.dev.${basename(file, ".jsonc")}.json`;
  const config = { ...rawConfig, vars: { ...rawConfig.vars, ...ours } };
  writeFileSync(join(lesson, derived), JSON.stringify(config, null, 2));
  return derived;
}

/** Says what to try when the Worker is up; and wakes what the last workerd has left unfinished, now and after each restart. */
async function attend(): Promise<void> {
  const workflows = configs.flatMap((config) => config.workflows);
  let boot: string | undefined;
  let troubled: string | undefined;
  for (; dev.exitCode === null && dev.signalCode === null; await delay(LOOK_MS)) {
    const now = await textOf(BOOT_PATH);
    // Not up yet, down for a moment, or the same as before.
    if (now === undefined || now === boot) continue;
    try {
      if (boot === undefined && troubled === undefined)
        process.stdout.write(`\n${await textOf("/")}\n${exportsOf(secrets)}`);
      for (const { workflow, ids } of await wakeUnfinished(origin, workflows)) {
        const runs = ids.length === 1 ? "an unfinished run" : `${ids.length} unfinished runs`;
        if (ids.length > 0)
          process.stdout.write(`Woke ${runs} of ${workflow}: ${shortened(ids)}\n`);
      }
      boot = now;
    } catch (error) {
      // It may have gone down again. Of each it is said once, and tried again.
      if (troubled !== now)
        process.stderr.write(`What a restart left unfinished is not woken yet: ${String(error)}\n`);
      troubled = now;
    }
  }
}

/** What makes the commands above work in another terminal. */
function exportsOf(all: Record<string, string | undefined>): string {
  const lines = madeAtRandom(named(values.secret)).map((name) => `  export ${name}=${all[name]}\n`);
  if (lines.length === 0) return "";
  return `The secrets of this machine, for the commands above:\n${lines.join("")}\n`;
}

async function textOf(path: string): Promise<string | undefined> {
  const headers = { accept: "text/plain" };
  const response = await fetch(origin + path, { headers }).catch(() => undefined);
  return response?.ok ? response.text() : undefined;
}

function shortened(ids: string[]): string {
  return ids.slice(0, 5).join(", ") + (ids.length > 5 ? ` and ${ids.length - 5} more` : "");
}

function ended(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((end, reject) => {
    child
      .once("error", reject)
      .once("exit", (exitCode, signal) => end(exitCode ?? (signal ? 130 : 1)));
  });
}
