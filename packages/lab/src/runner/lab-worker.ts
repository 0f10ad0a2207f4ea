import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkerInput } from "@durable-lessons/crash-test";
import { unstable_readConfig } from "wrangler";
import { type AnyVariant, type Pair, VARIANTS, YOURS } from "../pair.ts";
import { queueOf } from "../queues.ts";
import { type DatabaseConfig, type LessonConfig, lessonConfigs } from "./lesson-configs.ts";
import { type LessonFolder, mtimeOf, pitfallsOf, yoursOf } from "./read-lesson.ts";

/** The lab's Worker, and what is to be done with it. */
export interface LabWorker {
  /** For the test harness. */
  worker: WorkerInput;
  /** Absolute path of the lab's configuration. */
  configFile: string;
  /** Removes what was generated. */
  close: () => Promise<void>;
}

/** How many queues each side has that has one, 1 by default. */
export type Lanes = Partial<Record<AnyVariant, number>>;

/** Values of the `vars` of a lesson's configuration. */
export type LessonVars = Record<string, number | string>;

/**
 * The Workers of a lesson as they are deployed, the one that answers requests first.
 *
 * @param dir absolute path of the lesson
 * @param vars in the place of those in its configuration
 */
export async function lessonWorkers(dir: string, vars: LessonVars = {}): Promise<WorkerInput[]> {
  const configs = await lessonConfigs(dir);
  return configs.map(({ file }) => ({ configPath: join(dir, file), vars }));
}

/**
 * The Workers of a lesson as they are deployed, but for the times of their queues: a batch waits for nothing, and a retry for
 * nothing but what the consumer asks for.
 *
 * @param dir absolute path of the lesson
 * @param vars in the place of those in its configuration, and its secrets
 */
export async function quickWorkers(dir: string, vars: LessonVars): Promise<WorkerInput[]> {
  const configs = await lessonConfigs(dir);
  return configs.map(({ file }) => {
    const configPath = join(dir, file);
    const config = unstable_readConfig({ config: configPath });
    const { consumers } = config.queues;
    if (!consumers) return { configPath, vars };
    const quick = consumers.map((consumer: object) => ({
      ...consumer,
      max_batch_timeout: 0,
      retry_delay: 0,
    }));
    const { crons = [] } = config.triggers;
    const times = { queues: { ...config.queues, consumers: quick }, triggers: { crons } };
    return { config: { ...config, ...times }, vars };
  });
}

/**
 * Makes a Worker that runs pairs of a lesson, in a folder of its own among the system's temporary ones: it is never
 * deployed, and a lesson has nothing of it. It binds the lesson's databases, buckets, senders of mail and vars, a Workflow
 * `PITFALLS`, and a queue with its dead letters for every variant that has one.
 *
 * It runs pairs without the lesson's own Workers. With one Worker the harness starts one workerd in the place of a killed one,
 * with several it starts and kills one more (measured locally with wrangler 4.156.2).
 *
 * @param pairs those that it runs, with the reader's own attempt at those that have it; the others are not compiled
 * @param options `vars`: in the place of those in the lesson's configuration; `isInFront`: it hands on to the lesson's Workers
 *   what it does not answer itself; `lanes`: how many queues each variant has that has one
 */
export async function labWorker(
  { id, dir }: LessonFolder,
  pairs: readonly Pair[],
  {
    vars = {},
    isInFront = false,
    lanes = {},
  }: { vars?: LessonVars; isInFront?: boolean; lanes?: Lanes } = {},
): Promise<LabWorker> {
  const configs = await lessonConfigs(dir);
  const folder = await mkdtemp(join(tmpdir(), `lab-${id}-`));
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeAtExit);
  const close = async () => {
    process.off("exit", removeAtExit);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const config = {
      ...configOf(configs, pairs, lanes),
      ...(isInFront ? servicesOf(configs) : {}),
    };
    await writeFile(join(folder, "entry.ts"), await entryOf(dir, pairs));
    const configFile = join(folder, "wrangler.json");
    await writeFile(configFile, JSON.stringify(config, null, 2));
    // Nobody has set them here, and what signs or checks with one wants a value that nobody knows.
    const secrets = Object.fromEntries(
      secretsOf(configs).map((name) => [
        name,
        String(vars[name] ?? NO_SECRETS[name] ?? crypto.randomUUID()),
      ]),
    );
    return {
      worker: { configPath: configFile, vars, secrets },
      configFile,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What a lesson asks for like a secret, so that a deploy is refused without it. */
const NO_SECRETS: Record<string, string> = { MAIL_FROM: "hello@example.com" };

/** The entry module: the pairs one by one, so that one that cannot be loaded need not be among them. */
async function entryOf(dir: string, pairs: readonly Pair[]): Promise<string> {
  const from = (path: string) => `from ${JSON.stringify(path)};`;
  const tryFile = join(dir, "src", "what-to-try.ts");
  const hasTry = (await mtimeOf(tryFile)) !== null;
  const entry = ({ id, yours }: Pair, nth: number) =>
    yours
      ? `{ ...pair${nth}, yours: () => import(${JSON.stringify(yoursOf({ dir }, id))}) }`
      : `pair${nth}`;
  return [
    `import { labWorker } ${from(join(import.meta.dirname, "..", "worker", "index.ts"))}`,
    ...(hasTry ? [`import { whatToTry } ${from(tryFile)}`] : []),
    ...pairs.map(
      ({ id }, nth) => `import pair${nth} ${from(join(pitfallsOf(dir), id, "pair.ts"))}`,
    ),
    `const pairs = [${pairs.map(entry).join(", ")}];`,
    `const { PitfallWorkflow, handlers } = labWorker(pairs${hasTry ? ", whatToTry" : ""});`,
    "export { PitfallWorkflow, handlers as default };",
    "",
  ].join("\n");
}

function configOf(
  configs: [LessonConfig, ...LessonConfig[]],
  pairs: readonly Pair[],
  lanes: Lanes,
) {
  const [lesson] = configs;
  const name = `${lesson.worker}-lab`;
  const queues = pairs.flatMap((pair) =>
    variantsOf(pair).flatMap((variant) =>
      Array.from(
        { length: lanes[variant] ?? 1 },
        (_, lane) => queueOf(pair, variant, lane) ?? [],
      ).flat(),
    ),
  );
  const secrets = secretsOf(configs);
  const consumed = { retry_delay: 0, max_batch_timeout: 0 };
  return {
    name,
    main: "entry.ts",
    compatibility_date: lesson.compatibilityDate,
    compatibility_flags: [
      ...new Set([
        ...configs.flatMap(({ compatibilityFlags }) => compatibilityFlags),
        "nodejs_als",
        // To hand crons on.
        "service_binding_extra_handlers",
      ]),
    ],
    workflows: [{ name, binding: "PITFALLS", class_name: "PitfallWorkflow" }],
    d1_databases: databasesOf(configs),
    vars: Object.assign({}, ...configs.map(({ shared }) => shared.vars).toReversed()),
    r2_buckets: unique(
      configs.flatMap(({ shared }) => shared.r2_buckets),
      ({ binding }) => binding,
    ),
    send_email: unique(
      configs.flatMap(({ shared }) => shared.send_email),
      (email) => email.name,
    ),
    ai: configs.find(({ shared }) => shared.ai)?.shared.ai,
    ...(secrets.length > 0 ? { secrets: { required: secrets } } : {}),
    queues: {
      producers: queues.map(({ binding, name: queue }) => ({ binding, queue })),
      consumers: queues.flatMap(({ name: queue, deadLetters, ...settings }) => [
        {
          ...consumed,
          queue,
          max_batch_size: settings.batchSize,
          max_batch_timeout: settings.batchTimeout,
          max_retries: settings.retries,
          dead_letter_queue: deadLetters,
        },
        { ...consumed, queue: deadLetters, max_batch_size: 10, max_retries: 3 },
      ]),
    },
  };
}

const variantsOf = ({ yours }: Pair): readonly AnyVariant[] =>
  yours ? [...VARIANTS, YOURS] : VARIANTS;

/** What it hands on goes to the Worker that answers requests, and to the one that has crons. */
function servicesOf([lesson, ...others]: [LessonConfig, ...LessonConfig[]]) {
  const cron = [lesson, ...others].find(({ hasCrons }) => hasCrons);
  return {
    services: [
      { binding: "LESSON", service: lesson.worker },
      ...(cron ? [{ binding: "CRON", service: cron.worker }] : []),
    ],
  };
}

/**
 * The databases of a lesson, by binding.
 *
 * @throws Error where two Workers bind two databases under one name: a variant could have only one of them
 */
function databasesOf(configs: readonly LessonConfig[]): DatabaseConfig[] {
  const all = configs.flatMap(({ databases }) => databases);
  for (const { binding, database_id } of all) {
    if (all.some((other) => other.binding === binding && other.database_id !== database_id)) {
      throw new Error(`Two Workers of the lesson bind two databases as ${binding}.`);
    }
  }
  return unique(all, ({ binding }) => binding);
}

/** The names of the secrets that the lesson asks for. */
const secretsOf = (configs: readonly LessonConfig[]) => [
  ...new Set(configs.flatMap(({ secrets }) => secrets)),
];

/** The first item of every key. */
const unique = <T>(list: readonly T[], keyOf: (item: T) => string): T[] =>
  list.filter((item, at) => list.findIndex((other) => keyOf(other) === keyOf(item)) === at);
