/**
 * How long does a newcomer wait for the first evidence? Clones this repository afresh, with an empty HOME and so without
 * npm's cache and pnpm's store, starts the README's first command and takes the time until the table of the first pair
 * stands there. `--help` says the rest. Needs git and Node.js 20, and nothing that has to be installed.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, join, resolve, sep } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify, stripVTControlCharacters } from "node:util";

const HELP = `Takes the time from a fresh clone of this repository to the first evidence.

Usage: node scripts/first-evidence.js [--rev COMMIT] [--runs N] [--json]
       node scripts/first-evidence.js --other FOLDER --command 'COMMAND' --until 'REGEX'

Each run has a fresh copy, an empty HOME, an empty npm cache and an empty pnpm store. Making the copy is not counted. The
time ends with the first pair's table: the line "pitfall   fix" of \`compare 01\`.

  --rev COMMIT       what to clone of this repository, HEAD by default; what is not committed is not measured
  --runs N           rounds, 2 by default
  --timeout SECONDS  for one run, 300 by default
  --json             print one JSON object on standard output and nothing else
  --help, -h         print this

To compare it with something else, in turns, on the same machine:

  --other FOLDER     copied without .git, node_modules and what builds leave behind
  --command COMMAND  what a newcomer types there, for /bin/sh
  --until REGEX      what counts as its first evidence in the output, colours taken away

Exit code: 0 all runs showed their evidence, 1 one did not, 2 wrong arguments, 130 after Ctrl-C.
`;

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** The README's first command, for one lesson. */
const COMMAND = "npx -y pnpm@12.21.0 compare 01";
/** The head of the first pair's table. */
const EVIDENCE = /^ +pitfall +fix *$/m;
const LEFT_BEHIND = new Set([".git", "node_modules", ".wrangler", ".turbo", ".vitepress", "dist"]);

const run = promisify(execFile);
const folders = new Set();
const groups = new Set();
let stopped = false;

/**
 * Where the time went, told by files rather than by any program's words. A part ends when its file is there, the last one
 * with the evidence.
 */
const PARTS = [
  { name: "npx fetches pnpm", done: ({ home }) => anyOf(join(home, ".npm", "_npx"), pnpmIsThere) },
  { name: "install", done: ({ copy }) => stateOf(join(copy, "node_modules")) },
  { name: "run" },
];

function pnpmIsThere(folder) {
  return existsSync(join(folder, "node_modules", ".bin", "pnpm"));
}

async function anyOf(folder, test) {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => test(join(folder, name)));
}

/** pnpm writes its state last. */
async function stateOf(modules) {
  return existsSync(join(modules, ".pnpm-workspace-state-v1.json"));
}

class UsageError extends Error {}

class NoEvidenceError extends Error {
  constructor(name, why, output) {
    super(`${name} showed no evidence: ${why}. Its last words:\n${tail(output)}`);
  }
}

async function main() {
  const options = parse();
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const subjects = [
    {
      name: `this repository at ${(await git("rev-parse", "--short", options.rev)).trim()}`,
      command: COMMAND,
      until: EVIDENCE,
      parts: PARTS,
      copyTo: (copy) => cloneTo(copy, options.rev),
    },
  ];
  if (options.other) {
    const from = options.other;
    subjects.push({
      name: basename(from),
      command: options.command,
      until: options.until,
      parts: [{ name: "all" }],
      copyTo: (copy) =>
        cp(from, copy, {
          recursive: true,
          filter: (path) => path === from || !LEFT_BEHIND.has(basename(path)),
        }),
    });
  }

  const say = options.json ? () => undefined : (text) => process.stdout.write(`${text}\n`);
  const results = subjects.map(({ name, command }) => ({ name, command, runs: [] }));
  for (let round = 1; round <= options.runs; round += 1) {
    for (const [index, subject] of subjects.entries()) {
      const measured = await measure(subject, options.timeoutMs);
      results[index].runs.push(measured);
      say(`${subject.name}, run ${round}: ${lineOf(measured)}`);
    }
  }
  for (const result of results) result.medianMs = median(result.runs.map(({ ms }) => ms));
  const [ours, other] = results;
  const ratio = other && ours.medianMs / other.medianMs;
  say("");
  for (const { name, medianMs } of results) say(`${name}: ${seconds(medianMs)} (median)`);
  if (ratio) say(`ratio: ${ratio.toFixed(2)} (this repository : ${other.name})`);
  if (options.json) process.stdout.write(`${JSON.stringify({ results, ratio }, null, 2)}\n`);
  return 0;
}

function parse() {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        command: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
        json: { type: "boolean", default: false },
        other: { type: "string" },
        rev: { type: "string", default: "HEAD" },
        runs: { type: "string", default: "2" },
        timeout: { type: "string", default: "300" },
        until: { type: "string" },
      },
    }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { command, help, json, rev } = values;
  if (process.platform === "win32") throw new UsageError("It needs /bin/sh and process groups.");
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new UsageError("--runs takes a number from 1 on.");
  const timeoutMs = Number(values.timeout) * 1000;
  if (!(timeoutMs > 0)) throw new UsageError("--timeout takes seconds.");
  const given = [values.other, command, values.until].filter((value) => value !== undefined);
  if (given.length !== 0 && given.length !== 3) {
    throw new UsageError("--other, --command and --until go together.");
  }
  const other = values.other && resolve(values.other);
  if (other && !existsSync(other)) throw new UsageError(`There is no folder ${other}.`);
  let until;
  try {
    until = values.until === undefined ? undefined : new RegExp(values.until, "m");
  } catch (error) {
    throw new UsageError(`--until: ${error.message}`);
  }
  return { command, help, json, other, rev, runs, timeoutMs, until };
}

async function git(...args) {
  try {
    return (await run("git", ["-C", ROOT, ...args])).stdout;
  } catch (error) {
    throw new UsageError(`git ${args.join(" ")}: ${(error.stderr || error.message).trim()}`);
  }
}

async function cloneTo(copy, rev) {
  const commit = (await git("rev-parse", `${rev}^{commit}`)).trim();
  // Objects are copied, as over a network: what is measured must not depend on this folder.
  await git("clone", "--quiet", "--no-hardlinks", "--no-checkout", ROOT, copy);
  await git("-C", copy, "checkout", "--quiet", "--detach", commit);
}

/**
 * Runs a subject's command in a fresh copy.
 *
 * @returns milliseconds until its evidence, and those of each part
 */
async function measure({ name, command, until, parts, copyTo }, timeoutMs) {
  const folder = await mkdtemp(join(tmpdir(), "first-evidence-"));
  folders.add(folder);
  try {
    const place = { home: join(folder, "home"), copy: join(folder, "copy") };
    await mkdir(place.home);
    await copyTo(place.copy);

    const start = performance.now();
    const child = spawn("/bin/sh", ["-c", command], {
      cwd: place.copy,
      env: cleanEnv(place.home),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (child.pid !== undefined) groups.add(child.pid);
    // What is known of it so far: its words, when they showed the evidence, and how it ended.
    const known = { output: "", evidence: Number.NaN, end: "" };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        known.output += text;
        if (Number.isNaN(known.evidence) && until.test(stripVTControlCharacters(known.output))) {
          known.evidence = performance.now() - start;
        }
      });
    }
    child.once("error", (error) => (known.end = error.message));
    child.once("close", (code, by) => (known.end ||= `ended with ${code ?? by}`));

    const ends = [];
    while (Number.isNaN(known.evidence)) {
      const now = performance.now() - start;
      if (await parts[ends.length]?.done?.(place)) ends.push(now);
      else if (known.end) throw new NoEvidenceError(name, `${known.end} before it`, known.output);
      else if (now > timeoutMs) {
        throw new NoEvidenceError(name, `not in ${seconds(timeoutMs)}`, known.output);
      } else await delay(10);
    }
    await endGroup(child.pid);
    return { ms: Math.round(known.evidence), parts: partsOf(parts, ends, known.evidence) };
  } finally {
    await cleanUp();
  }
}

function partsOf(parts, ends, all) {
  let before = 0;
  return parts.map(({ name }, index) => {
    const end = index === parts.length - 1 ? all : (ends[index] ?? all);
    const ms = Math.round(end - before);
    before = end;
    return { name, ms };
  });
}

/** What a newcomer's shell has: nothing of the process manager that started us, and another HOME. */
function cleanEnv(home) {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      name === "npm_config_registry" ||
      !/^(npm_|pnpm_|XDG_|COREPACK_|NODE_OPTIONS$|NODE_PATH$|INIT_CWD$|CI$|NO_COLOR$|FORCE_COLOR$)/i.test(
        name,
      ),
  );
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((entry) => !entry.split(sep).includes("node_modules"))
    .join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path, HOME: home };
}

/** Ends everything that a command started, and waits until it is gone. */
async function endGroup(pid) {
  if (pid === undefined || !groups.has(pid)) return;
  send(pid, "SIGINT");
  for (const deadline = performance.now() + 5000; performance.now() < deadline;) {
    if (!send(pid, 0)) break;
    await delay(20);
  }
  while (send(pid, "SIGKILL")) await delay(20);
  groups.delete(pid);
}

/** @returns whether there was somebody to get the signal */
function send(pid, signal) {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Ends what still runs and removes what is left, after a success, an error or Ctrl-C. */
async function cleanUp() {
  for (const pid of groups) {
    while (send(pid, "SIGKILL")) await delay(20);
    groups.delete(pid);
  }
  for (const folder of folders) {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    folders.delete(folder);
  }
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const tail = (output) =>
  stripVTControlCharacters(output).trimEnd().split("\n").slice(-20).join("\n");
const lineOf = ({ ms, parts }) =>
  `${seconds(ms)}${parts.length > 1 ? ` = ${parts.map((part) => `${part.name} ${seconds(part.ms)}`).join(" + ")}` : ""}`;

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
]) {
  process.once(signal, () => {
    process.stderr.write("Stopped.\n");
    stopped = true;
    void cleanUp().finally(() => process.exit(code));
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!stopped) process.stderr.write(`${error.message}\n`);
  if (error instanceof UsageError) process.stderr.write("Try: --help\n");
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
