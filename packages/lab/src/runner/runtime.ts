import type { ChildProcess } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { basename } from "node:path";
import { createTestHarness } from "wrangler";
import { type LessonConfig, lessonConfigs } from "./lesson-configs.ts";

/** How a process of workerd ended and which one took its place. */
export interface CrashReport {
  pidBefore: number;
  pidAfter: number;
  /** The signal that ended the first one, as the operating system reports it. */
  signal: string;
}

/** What a request to a lesson may say, beside its path. */
export interface LessonRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** Values of the `vars` of a lesson's configuration. */
export type LessonVars = Record<string, number | string>;

/**
 * A lesson's Workers on a workerd of their own, with storage of their own: wrangler's test harness, and a crash.
 * `close` ends every process that `start` started.
 */
export class LessonRuntime {
  readonly #harness: ReturnType<typeof createTestHarness>;
  #workerd: ChildProcess | undefined;

  private constructor(dir: string, configs: LessonConfig[], vars: LessonVars) {
    this.#harness = createTestHarness({
      root: dir,
      workers: configs.map(({ file }) => ({ configPath: file, vars: { LAB: "on", ...vars } })),
    });
  }

  /**
   * Starts the Workers of a folder with the lab on and every D1 migration applied: see {@link lessonConfigs}.
   *
   * @param dir absolute path of the lesson
   * @param vars in the place of those in its configuration: shorter times, for a test
   */
  static async start(dir: string, vars: LessonVars = {}): Promise<LessonRuntime> {
    const configs = await lessonConfigs(dir);
    // Nothing of what wrangler would ask the network for matters here.
    process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
    process.env["WRANGLER_SEND_METRICS"] ??= "false";
    process.env["WRANGLER_LOG"] ??= "error";
    const runtime = new LessonRuntime(dir, configs, vars);
    try {
      // The harness starts two: first its proxy, then, when the proxy listens, the one that runs the Workers.
      runtime.#workerd = await spawnedDuring(() => runtime.#harness.listen());
      await runtime.#migrate(configs);
      return runtime;
    } catch (error) {
      await runtime.close();
      throw error;
    }
  }

  /** The process id of the workerd that runs the lesson. */
  get pid(): number {
    return pidOf(this.#workerd);
  }

  /** Sends a request to the lesson. */
  async fetch(path: string, init?: LessonRequest): Promise<Response> {
    const response = await this.#harness.fetch(path, init);
    // The harness answers with undici's Response, which has the same shape under another name.
    return new Response(response.body as ReadableStream | null, {
      status: response.status,
      headers: [...response.headers],
    });
  }

  /** The bindings of a Worker of the lesson, the first one unless named. */
  env(worker?: string): Promise<Record<string, unknown>> {
    return this.#harness.getWorker(worker).getEnv();
  }

  /**
   * Kills workerd with SIGKILL and starts it again on the same storage. An update of the harness does just that
   * (measured locally with wrangler 4.156.2); what really happened is in the report.
   */
  async crash(): Promise<CrashReport> {
    const victim = this.#workerd;
    const pidBefore = pidOf(victim);
    this.#workerd = await spawnedDuring(() => this.#harness.update((options) => ({ ...options })));
    const signal = victim?.signalCode;
    if (!signal)
      throw new Error(`workerd ${pidBefore} was not killed: wrangler restarts in another way now.`);
    return { pidBefore, pidAfter: this.pid, signal };
  }

  /** Ends everything that this runtime started. */
  async close(): Promise<void> {
    await this.#harness.close();
  }

  async #migrate(configs: LessonConfig[]): Promise<void> {
    for (const { worker, databases } of configs) {
      const handle = this.#harness.getWorker(worker);
      for (const { binding } of databases) await handle.applyD1Migrations(binding);
    }
  }
}

let lastSpawn: Promise<unknown> = Promise.resolve();

/**
 * Runs `work` and returns the last workerd that this process spawned on the way. Wrangler keeps the handle to itself;
 * Node tells of every child on its diagnostics channel `child_process`. One at a time, so that two runtimes of one
 * process do not take each other's.
 */
async function spawnedDuring(work: () => Promise<unknown>): Promise<ChildProcess> {
  const spawn = lastSpawn.then(async () => {
    const children: ChildProcess[] = [];
    const onSpawn = (message: unknown) => {
      children.push((message as { process: ChildProcess }).process);
    };
    const spawns = channel("child_process");
    spawns.subscribe(onSpawn);
    try {
      await work();
    } finally {
      spawns.unsubscribe(onSpawn);
    }
    const workerd = children.findLast((child) => basename(child.spawnfile).startsWith("workerd"));
    if (!workerd)
      throw new Error("Wrangler started no workerd: its test harness works in another way now.");
    return workerd;
  });
  lastSpawn = spawn.catch(() => undefined);
  return spawn;
}

function pidOf(process: ChildProcess | undefined): number {
  if (process?.pid === undefined) throw new Error("workerd is not running.");
  return process.pid;
}
