import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A pair of a lesson that is made for a test: its engine, and the code of its sides where it is not the good one. */
export interface MadePair {
  id: string;
  engine: "http" | "queue" | "workflow";
  pitfall?: string;
  fix?: string;
}

const GOOD = {
  workflow: `export async function run(event, step, env) {
  await step.do("send mail", () => env.mail.send({ to: "ada@example.com", subject: "", text: "" }));
  await step.do("open account", () => env.accounts.open({ userId: event.payload.userId }));
}
`,
  queue: `export async function consume(batch, env) {
  for (const { body } of batch.messages) {
    await env.mail.send({ to: "ada@example.com", subject: "", text: "", key: body });
  }
}
`,
  http: `export async function handle(request, env) {
  const { userId } = await request.json();
  return Response.json(await env.accounts.open({ userId }));
}
`,
};

const DATA = {
  workflow: `
  params: ({ run }) => ({ userId: run }),
  faults: { "accounts.open": ["hang"] },
  disturb: { crash: { during: "open account" } },
  expect: {
    pitfall: { "email.sent": 1, "account.opened": 1 },
    fix: { "email.sent": 1, "account.opened": 1 },
  },`,
  queue: `
  queue: { batchSize: 2, retries: 2 },
  messages: ({ run }) => ["a", "b"].map((name) => run + name),
  expect: { pitfall: { "email.sent": 2 }, fix: { "email.sent": 2 } },`,
  http: `
  body: ({ run }) => ({ userId: run }),
  expect: { pitfall: { "account.opened": 1 }, fix: { "account.opened": 1 } },`,
};

/** The number of the made lesson. */
export const NUMBER = "98";

/**
 * Makes a folder of lessons with one lesson in it, whose sides do the same where nothing else is said. It stands beside the
 * fixture, so that imports are found.
 *
 * @param files what its `gauntlet.ts` says, where it has one
 * @returns the folder's path, and what removes it
 */
export async function makeLesson(
  pairs: readonly MadePair[],
  { gauntlet }: { gauntlet?: string } = {},
): Promise<AsyncDisposable & { apps: string }> {
  const apps = await mkdtemp(join(import.meta.dirname, ".tmp-"));
  const lesson = join(apps, `${NUMBER}-made`);
  const write = async (file: string, text: string) => {
    await mkdir(join(lesson, file, ".."), { recursive: true });
    await writeFile(join(lesson, file), text);
  };
  const config = {
    name: "made",
    main: "src/index.ts",
    compatibility_date: "2026-11-01",
    d1_databases: [
      {
        binding: "WORLD",
        database_name: "world",
        database_id: "world",
        migrations_dir: "../../../../outside-world/migrations",
      },
    ],
  };
  await write("wrangler.jsonc", JSON.stringify(config));
  await write(
    "src/index.ts",
    `export default {
  fetch: ({ url }) => new Response(null, { status: url.endsWith("/closed") ? 429 : 202 }),
};
`,
  );
  if (gauntlet) await write("gauntlet.ts", gauntlet);
  const list = pairs.map((_, nth) => `pair${nth}`).join(", ");
  await write(
    "src/pitfalls/index.ts",
    `${pairs.map(({ id }, nth) => `import pair${nth} from "./${id}/pair.ts";\n`).join("")}export const pairs = [${list}];\n`,
  );
  for (const { id, engine, pitfall = GOOD[engine], fix = GOOD[engine] } of pairs) {
    const texts = `title: "${id}", claim: "${id}", why: "${id}", claims: []`;
    await write(
      `src/pitfalls/${id}/pair.ts`,
      `export default {
  id: "${id}", ${texts}, engine: "${engine}",${DATA[engine]}
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
};
`,
    );
    await write(`src/pitfalls/${id}/pitfall.ts`, pitfall);
    await write(`src/pitfalls/${id}/fix.ts`, fix);
  }
  return { apps, [Symbol.asyncDispose]: () => rm(apps, { recursive: true, force: true }) };
}
