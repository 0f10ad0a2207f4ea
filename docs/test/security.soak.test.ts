/**
 * `pnpm check:security` finds what somebody has opened: each opening is planted into a copy of a lesson, and the lesson is called as
 * a stranger would. `.ci/run` runs the command itself over the lessons as they are.
 */
import { cp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { soak } from "@durable-lessons/test-kit/soak";
import { afterEach, expect, test } from "vitest";
import { checkLesson, routesOf } from "../scripts/security.ts";

const apps = join(import.meta.dirname, "../../apps");
const table = routesOf(await readFile(join(apps, "../docs/deploy.md"), "utf8"));

let copy = "";
afterEach(() => rm(copy, { recursive: true, force: true }));

/** A copy of a lesson, in which one text of one file is another. */
async function planted(lesson: string, file: string, from: string, to: string): Promise<string> {
  // Beside the lessons, so that its relative paths are right. No lesson's folder begins with a letter.
  copy = join(apps, `${lesson.slice(0, 2)}-planted`);
  const original = join(apps, lesson);
  await rm(copy, { recursive: true, force: true });
  await cp(original, copy, {
    recursive: true,
    filter: (path) =>
      !/node_modules|\.wrangler|\/test\b|\/dist\b/.test(path.slice(original.length)),
  });
  await symlink(join(original, "node_modules"), join(copy, "node_modules"));
  const path = join(copy, file);
  const source = await readFile(path, "utf8");
  expect(source).toContain(from);
  await writeFile(path, source.replace(from, to));
  return copy;
}

type Planted = [
  name: string,
  lesson: string,
  file: string,
  from: string,
  to: string,
  found: string,
];

const OPENINGS: Planted[] = [
  [
    "a token that is no longer asked for",
    "02-order-workflow",
    "src/index.ts",
    'app.on(["POST", "PUT"], "/orders/:id/:action", requireToken("REVIEW_TOKEN"));',
    "",
    "token",
  ],
  [
    "a limit that is gone",
    "01-onboarding-workflow",
    "src/index.ts",
    'app.post("/onboard", limitCallers, ',
    'app.post("/onboard", ',
    "one caller is answered 50 times",
  ],
  [
    "somebody's mailbox that anybody can fill",
    "01-onboarding-workflow",
    "src/index.ts",
    "await limitRecipient(c.env.PER_RECIPIENT, user.email);",
    "",
    "one address of mail is answered 50 times",
  ],
  [
    "a route that nobody has written down",
    "05-etl-pipeline",
    "src/index.ts",
    'app.all("/runs", onlyMethods("POST"));',
    'app.get("/debug", (c) => c.json({}));\napp.all("/runs", onlyMethods("POST"));',
    "stands in the code and not in the table",
  ],
  [
    "every origin let in",
    "05-etl-pipeline",
    "src/index.ts",
    "app.onError(errorAsJson);",
    'app.onError(errorAsJson);\napp.use(async (c, next) => {\n  await next();\n  c.header("access-control-allow-origin", "*");\n});',
    "lets * read its answers",
  ],
  [
    "a route that is open until somebody sets a secret",
    "05-etl-pipeline",
    "src/index.ts",
    'app.use("/runs/*", asAdministrator);',
    'app.use("/runs/*", (c, next) => (c.env.ETL_TOKEN ? asAdministrator(c, next) : next()));',
    "with no secret set it answers",
  ],
  [
    "details for everybody",
    "01-onboarding-workflow",
    "src/index.ts",
    "(await hasToken(c, c.env.OPERATOR_TOKEN)) ? { output, error } : {}",
    "{ output, error, token: await hasToken(c, c.env.OPERATOR_TOKEN) }",
    "shows the same with OPERATOR_TOKEN and without",
  ],
  [
    "the lab, left in",
    "05-etl-pipeline",
    "src/index.ts",
    "app.onError(errorAsJson);",
    'app.onError(errorAsJson);\napp.all("/pitfalls", (c) => c.json([]));',
    "is answered 200, not 404",
  ],
];

// `pnpm test` looks at one, `pnpm test:soak` at all.
test.for(OPENINGS)(
  "%s is found, and nothing else",
  { timeout: 120_000 },
  async ([name, lesson, file, from, to, found], { skip }) => {
    skip(!soak(OPENINGS, OPENINGS.slice(3, 4)).some(([first]) => first === name));
    const { openings } = await checkLesson(await planted(lesson, file, from, to), table);
    expect(openings.length).toBeGreaterThan(0);
    for (const opening of openings) expect(opening.what).toContain(found);
  },
);
