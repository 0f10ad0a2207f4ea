import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { unstable_readConfig } from "wrangler";

/** One Worker of a lesson, as its config describes it. */
export interface LessonConfig {
  /** The file's name, in the lesson's folder. */
  file: string;
  /** The Worker's name. */
  worker: string;
  /** The bindings of its D1 databases, with the databases' ids. */
  databases: { binding: string; id: string }[];
}

/**
 * The Workers of a lesson: one for each `wrangler.jsonc` or `wrangler.<name>.jsonc` of its folder. The one that binds
 * the Workflow `PITFALLS` comes first: it answers requests, the lab's among them.
 *
 * @param dir absolute path of the lesson
 * @throws Error where there is none
 */
export async function lessonConfigs(dir: string): Promise<[LessonConfig, ...LessonConfig[]]> {
  const files = (await readdir(dir))
    .filter((name) => /^wrangler(\..+)?\.jsonc$/.test(name))
    .toSorted();
  const configs = files.map((file) => {
    const { name, d1_databases, workflows } = unstable_readConfig({ config: join(dir, file) });
    const databases: { binding: string; database_id?: string }[] = d1_databases;
    return {
      file,
      worker: name ?? file,
      databases: databases.map(({ binding, database_id }) => ({
        binding,
        id: database_id ?? binding,
      })),
      answers: workflows.some(({ binding }: { binding: string }) => binding === "PITFALLS"),
    };
  });
  const [first, ...others] = configs.toSorted((a, b) => Number(b.answers) - Number(a.answers));
  if (!first) throw new Error(`There is no wrangler.jsonc in ${dir}.`);
  return [first, ...others];
}
