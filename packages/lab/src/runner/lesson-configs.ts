import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { unstable_readConfig } from "wrangler";

/** A D1 database, as a Worker binds it. */
export interface DatabaseConfig {
  binding: string;
  database_name: string;
  database_id: string;
  /** Absolute path. */
  migrations_dir: string;
}

/** One Worker of a lesson, as its config describes it. */
export interface LessonConfig {
  /** The file's name, in the lesson's folder. */
  file: string;
  /** The Worker's name. */
  worker: string;
  databases: DatabaseConfig[];
  /** The names of its Workflows. */
  workflows: string[];
  /** The bindings that a variant can use in the lab too, as they stand in a wrangler configuration. */
  shared: {
    vars: Record<string, unknown>;
    r2_buckets: { binding: string }[];
    send_email: { name: string }[];
    ai: { binding: string } | undefined;
  };
  compatibilityDate: string | undefined;
  compatibilityFlags: string[];
  /** The names of the secrets that it does not work without. */
  secrets: string[];
  hasCrons: boolean;
}

/**
 * The Workers of a lesson: one for each `wrangler.jsonc` or `wrangler.<name>.jsonc` of its folder. First the one that
 * answers requests: the first that does not say `"workers_dev": false`, by name.
 *
 * @param dir absolute path of the lesson
 * @throws Error where there is none
 */
export async function lessonConfigs(dir: string): Promise<[LessonConfig, ...LessonConfig[]]> {
  const files = (await readdir(dir))
    .filter((name) => /^wrangler(\..+)?\.jsonc$/.test(name))
    .toSorted();
  const configs = files.map((file) => ({ file, config: readConfig(join(dir, file)) }));
  const [first, ...others] = configs
    .toSorted((a, b) => Number(isHidden(a.config)) - Number(isHidden(b.config)))
    .map(({ file, config }) => lessonConfig(dir, file, config));
  if (!first) throw new Error(`There is no wrangler.jsonc in ${dir}.`);
  return [first, ...others];
}

/** What wrangler makes of a configuration, as far as the lab looks at it. */
interface WranglerConfig {
  name?: string;
  workers_dev?: boolean;
  compatibility_date?: string;
  compatibility_flags: string[];
  d1_databases: {
    binding: string;
    database_name?: string;
    database_id?: string;
    migrations_dir?: string;
  }[];
  workflows: { name: string }[];
  vars: Record<string, unknown>;
  r2_buckets: { binding: string }[];
  send_email: { name: string }[];
  ai?: { binding: string };
  secrets?: { required?: string[] };
  triggers: { crons?: string[] };
}

const readConfig = (file: string): WranglerConfig => unstable_readConfig({ config: file });

const isHidden = ({ workers_dev }: WranglerConfig) => workers_dev === false;

function lessonConfig(dir: string, file: string, config: WranglerConfig): LessonConfig {
  const { vars, r2_buckets, send_email, ai } = config;
  return {
    file,
    worker: config.name ?? file,
    databases: config.d1_databases.map((database) => ({
      binding: database.binding,
      database_name: database.database_name ?? database.binding,
      database_id: database.database_id ?? database.binding,
      migrations_dir: resolve(dir, database.migrations_dir ?? "migrations"),
    })),
    workflows: config.workflows.map(({ name }) => name),
    shared: { vars, r2_buckets, send_email, ai },
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags,
    secrets: config.secrets?.required ?? [],
    hasCrons: (config.triggers.crons ?? []).length > 0,
  };
}
