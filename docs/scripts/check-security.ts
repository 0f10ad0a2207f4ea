/** `pnpm check:security [lesson] …`: see `--help`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findLessons } from "@durable-lessons/lab/runner";
import { checkLesson, routesOf } from "./security.ts";

const USAGE = `pnpm check:security [lesson] …

Starts each lesson as it would be deployed, first without secrets and then with them, and calls every route with no token, a
wrong one and the right one, from another origin and under another host. What it finds is compared with the table "Who may do
what" in docs/deploy.md.

  --flood N  how many anonymous requests each limited route of a lesson gets, 0 for none (default: 1000, lessons 1 to 3)
  --help     this text

Exits 0 where all is as the table says, 1 where something is open, 2 where the command is wrong.`;

const { values, positionals } = readArguments();
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const root = join(import.meta.dirname, "..", "..");
const table = routesOf(await readFile(join(root, "docs/deploy.md"), "utf8"));
const all = await findLessons(join(root, "apps"));
const unknown = positionals.find((name) => !all.some(({ id }) => id.startsWith(name)));
if (unknown !== undefined) fail(`There is no lesson "${unknown}".`);
const lessons = all.filter(
  ({ id }) => positionals.length === 0 || positionals.some((name) => id.startsWith(name)),
);

let count = 0;
for (const { id, dir } of lessons) {
  const flood = id < "04" ? Number(values.flood) : 0;
  const { openings, floods } = await checkLesson(dir, table, { flood });
  const routes = table.filter(({ lesson }) => id.startsWith(lesson)).length;
  console.log(`${openings.length === 0 ? "ok    " : "NOT OK"} ${id}, ${routes} routes`);
  for (const { route, statuses } of floods) {
    const told = Object.entries(statuses).map(([status, times]) => `${times} × ${status}`);
    console.log(`       ${values.flood} anonymous requests to ${route}: ${told.join(", ")}`);
  }
  for (const { route, what } of new Set(openings)) console.log(`       ${route}: ${what}`);
  count += openings.length;
}
process.exitCode = count === 0 ? 0 : 1;

function readArguments() {
  try {
    return parseArgs({
      options: {
        flood: { type: "string", default: "1000" },
        help: { type: "boolean", default: false },
      },
      allowPositionals: true,
    });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(message: string): never {
  console.error(`${message}\n\n${USAGE}`);
  process.exit(2);
}
