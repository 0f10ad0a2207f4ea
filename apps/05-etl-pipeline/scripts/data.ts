#!/usr/bin/env node
/**
 * `pnpm data`: puts a night's files into the R2 bucket of `wrangler dev`, on this machine, and says what a run must make
 * of them.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dayBefore } from "../src/days.ts";
import { incoming } from "../src/files.ts";
import { isDay } from "../src/schemas.ts";
import { addUp, generate, type Totals } from "./generate.ts";

const HELP = `Puts a night's files into the local R2 bucket, where pnpm dev finds them.

  pnpm data [--files 20] [--rows 1000] [--day ${dayBefore(Date.now())}] [--seed 1]

  --files  how many files of shops, beside five odd ones
  --rows   how many rows each of them has; about one in 150 is broken
  --day    the day that they are of, yesterday by default
  --seed   the same seed makes the same files
`;

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "20" },
    rows: { type: "string", default: "1000" },
    day: { type: "string", default: dayBefore(Date.now()) },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) {
  process.stdout.write(HELP);
} else {
  const { day } = values;
  if (!isDay(day)) refuse(`--day must be a day such as ${dayBefore(Date.now())}`);
  const [files, rows, seed] = [whole("files"), whole("rows"), whole("seed")];
  // It would warn that it has no Workflows; the bucket is all that is wanted.
  process.env["WRANGLER_LOG"] ??= "error";
  const { getPlatformProxy } = await import("wrangler");
  const { env, dispose } = await getPlatformProxy<{ FILES: R2Bucket }>({
    configPath: join(import.meta.dirname, "..", "wrangler.jsonc"),
  });
  const { objects } = await env.FILES.list({ prefix: incoming(day) });
  const earlier = new Set(objects.map(({ key }) => key));
  const all: Totals[] = [];
  for (const { file, bytes, ...totals } of generate({ day, seed, files, rows })) {
    await env.FILES.put(incoming(day) + file, bytes);
    earlier.delete(incoming(day) + file);
    all.push(totals);
    progress(`${all.length} of ${files + 5} files`);
  }
  await dispose();
  progress("");
  const { rows: good, rejected, currencies } = addUp(all);
  process.stdout.write(`${all.length} files are in ${incoming(day)}. A run must come to:\n`);
  process.stdout.write(`${JSON.stringify({ rows: good, rejected, currencies }, null, 2)}\n`);
  if (earlier.size > 0) {
    process.stderr.write(
      "Files of an earlier call are there too, and would count: take another --day for these figures.\n",
    );
  }
}

function whole(name: "files" | "rows" | "seed"): number {
  const value = Number(values[name]);
  if (!/^\d{1,7}$/.test(values[name])) refuse(`--${name} must be a whole number`);
  return value;
}

function refuse(problem: string): never {
  process.stderr.write(`${problem}\n\n${HELP}`);
  process.exit(2);
}

/** One line that changes, on a terminal; elsewhere nothing. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
}
