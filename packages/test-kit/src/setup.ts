/** Before the tests of a file, in the Worker: the tables of every database, from `vitest.ts`. */
import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";

const bindings = env as unknown as Record<string, D1Database>;
const { MIGRATIONS } = env as unknown as { MIGRATIONS: Record<string, D1Migration[]> };

for (const [binding, migrations] of Object.entries(MIGRATIONS)) {
  const database = bindings[binding];
  if (!database) throw new Error(`There is no database ${binding}.`);
  await applyD1Migrations(database, migrations);
}
