import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createTestHarness, type TestHarnessOptions, unstable_readConfig } from "wrangler";
import { endWithThisProcess, onWorkerd } from "./orphans.ts";
import { TimeLimitError, within } from "./time-limit.ts";

/** How long the harness may take to end its processes. What is left then is killed. */
const CLOSE_MS = 5000;

/** One Worker: the path of a wrangler configuration, or the configuration itself. */
export type WorkerInput = TestHarnessOptions["workers"][number];

/** What to start. */
export interface RuntimeOptions {
  /** Absolute path of the folder from which the paths of configurations are looked up. */
  root: string;
  /** The first one answers requests. */
  workers: WorkerInput[];
  /** How long the Workers may take to be built and to be up, in milliseconds; 60,000 by default. */
  startTimeoutMs?: number;
  /** Called when everything has ended: removes what was made for these Workers. */
  onClose?: () => Promise<void>;
}

/** How a process of workerd ended and which one took its place. */
export interface CrashReport {
  pidBefore: number;
  pidAfter: number;
  /** The signal that ended the first one, as the operating system reports it. */
  signal: string;
}

/** What a request may say, beside its path. */
export interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** What a Worker has written to its console. */
export interface LogLine {
  level: string;
  message: string;
  /** Milliseconds since the epoch. */
  timestamp: number;
}

/**
 * Workers on a workerd of their own, with storage of their own: wrangler's test harness, and a crash. `close` ends every
 * process that `start` started; where this process is killed before, they are killed too.
 */
export class Runtime {
  readonly #options: RuntimeOptions & { startTimeoutMs: number };
  readonly #harness: ReturnType<typeof createTestHarness>;
  readonly #lost = Promise.withResolvers<string>();
  /** Every workerd that was started for this runtime: the harness has one more, its proxy. */
  readonly #children: ChildProcess[] = [];
  readonly #withoutDelays: { binding: string; worker: string | undefined }[] = [];
  #workerd: ChildProcess | undefined;
  /** What the harness was last asked to do, and may still be at when its time is over. */
  #work: Promise<unknown> = Promise.resolve();
  #isEnding = false;
  #isBuilt = false;

  private constructor(options: RuntimeOptions) {
    this.#options = { startTimeoutMs: 60_000, ...options };
    const { root, workers } = options;
    this.#harness = createTestHarness({ root, workers });
  }

  /**
   * Starts Workers, with every migration of their D1 databases applied.
   *
   * @throws what the bundler throws where one cannot be built ({@link buildProblems} reads it), TimeLimitError where they
   *   are not up in time; no process is left then
   */
  static async start(options: RuntimeOptions): Promise<Runtime> {
    // Nothing of what wrangler would ask the network for matters here.
    process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
    process.env["WRANGLER_SEND_METRICS"] ??= "false";
    process.env["WRANGLER_LOG"] ??= "error";
    // Workers that wrangler would add, with an isolate each and a trace of every request: nobody looks at them here.
    process.env["X_LOCAL_EXPLORER"] ??= "false";
    process.env["X_LOCAL_OBSERVABILITY"] ??= "false";
    giveWranglerAHome();
    const runtime = new Runtime(options);
    try {
      await runtime.#listen();
      return runtime;
    } catch (error) {
      await runtime.close();
      throw error;
    }
  }

  /** The process id of the workerd that runs the Workers. */
  get pid(): number {
    return pidOf(this.#workerd);
  }

  /** Resolves, with how it ended, once workerd has ended without being asked to. Never rejects. */
  get lost(): Promise<string> {
    return this.#lost.promise;
  }

  /** Sends a request to the first Worker. */
  async fetch(path: string, init?: Request): Promise<Response> {
    const response = await this.#harness.fetch(path, init);
    // The harness answers with undici's Response, which has the same shape under another name.
    return new Response(response.body as ReadableStream | null, {
      status: response.status,
      headers: [...response.headers],
    });
  }

  /** The bindings of a Worker, of the first one unless named. */
  env(worker?: string): Promise<Record<string, unknown>> {
    return this.#harness.getWorker(worker).getEnv();
  }

  /** What the Workers have written to their console since the last call. What they write before they block is there, too. */
  takeLogs(): LogLine[] {
    const lines = this.#harness.getLogs();
    this.#harness.clearLogs();
    return lines;
  }

  /**
   * Takes the sleeps and the delays between retries out of every instance that a Workflow creates from now on. Also after
   * a crash, which the harness's introspector does not survive (measured locally with wrangler 4.156.2).
   *
   * @param binding the name of the Workflow's binding in the Worker, the first one unless named
   */
  async withoutDelays(binding: string, worker?: string): Promise<void> {
    this.#withoutDelays.push({ binding, worker });
    await this.#introspect(binding, worker);
  }

  async #introspect(binding: string, worker?: string): Promise<void> {
    const introspector = await this.#harness.getWorker(worker).introspectWorkflow(binding);
    await introspector.modifyAll(async (instance) => {
      await instance.disableSleeps();
      await instance.disableRetryDelays();
    });
  }

  /**
   * Kills workerd with SIGKILL and starts it again on the same storage. An update of the harness does just that
   * (measured locally with wrangler 4.156.2); what really happened is in the report.
   *
   * @throws TimeLimitError where workerd is not up again in time
   */
  async crash(): Promise<CrashReport> {
    const victim = this.#workerd;
    const pidBefore = pidOf(victim);
    await this.#spawn(() => this.#harness.update((options) => ({ ...options })));
    const signal = victim?.signalCode;
    if (!signal)
      throw new Error(`workerd ${pidBefore} was not killed: wrangler restarts in another way now.`);
    for (const { binding, worker } of this.#withoutDelays) await this.#introspect(binding, worker);
    return { pidBefore, pidAfter: this.pid, signal };
  }

  /**
   * Builds the Workers anew from their sources and starts them on the same storage. After a build that failed the storage
   * is a new one: the harness ends its session then (measured locally with wrangler 4.156.2).
   *
   * @throws as `start`; the next call tries again
   */
  async rebuild(): Promise<void> {
    if (!this.#isBuilt) return this.#listen();
    this.#isBuilt = false;
    await this.#spawn(() => this.#harness.update((options) => ({ ...options })));
    this.#isBuilt = true;
  }

  /** Starts the Workers anew on fresh storage, with the migrations applied. */
  async reset(): Promise<void> {
    await this.#spawn(() => this.#harness.reset());
    await this.#migrate();
  }

  /** Ends everything that this runtime started, also where it does not answer. */
  async close(): Promise<void> {
    this.#isEnding = true;
    // The harness waits for a start that may never end.
    await within(this.#harness.close(), CLOSE_MS, "").catch(() => undefined);
    await this.#killAll();
    // A start that was given up still writes files, until it sees that it is over.
    await within(this.#work, CLOSE_MS, "").catch(() => undefined);
    await this.#options.onClose?.();
  }

  async #killAll(): Promise<void> {
    await Promise.all(
      this.#children.filter(isRunning).map(async (child) => {
        const exit = once(child, "exit");
        child.kill("SIGKILL");
        await exit;
      }),
    );
  }

  async #listen(): Promise<void> {
    // The harness starts two: first its proxy, then, when the proxy listens, the one that runs the Workers.
    await this.#spawn(() => this.#harness.listen());
    await this.#migrate();
    this.#isBuilt = true;
  }

  /** Runs what starts workerd, within the time for a start. */
  async #spawn(work: () => Promise<unknown>): Promise<void> {
    this.#workerd = undefined;
    const { startTimeoutMs } = this.#options;
    const message = `The Workers were not up after ${startTimeoutMs} ms.`;
    const before = this.#children.length;
    try {
      this.#work = starter.run((child) => this.#adopt(child), work);
      await within(this.#work, startTimeoutMs, message);
    } catch (error) {
      // Whoever waits for a workerd that does not answer hears of its end.
      if (error instanceof TimeLimitError) await this.#killAll();
      throw error;
    }
    this.#workerd = this.#children.slice(before).at(-1);
    if (!this.#workerd)
      throw new Error("Wrangler started no workerd: its test harness works in another way now.");
  }

  /** Takes a workerd into care. One whose start was given up comes after the end, and is not let live. */
  #adopt(child: ChildProcess): void {
    this.#children.push(child);
    if (this.#isEnding) child.kill("SIGKILL");
    child.once("exit", (code, signal) => {
      if (this.#workerd !== child || this.#isEnding) return;
      this.#lost.resolve(signal ? `ended by ${signal}` : `ended with code ${code}`);
    });
  }

  async #migrate(): Promise<void> {
    const migrated = new Set<string>();
    for (const input of this.#options.workers) {
      const { name, d1_databases: databases = [] } = configOf(this.#options.root, input);
      for (const { binding, database_id: id = binding } of databases) {
        if (migrated.has(id)) continue;
        migrated.add(id);
        await this.#harness.getWorker(name).applyD1Migrations(binding);
      }
    }
  }
}

interface WorkerConfig {
  name?: string | undefined;
  d1_databases?: { binding: string; database_id?: string | undefined }[] | undefined;
}

function configOf(root: string, input: WorkerInput): WorkerConfig {
  if ("config" in input) return input.config;
  const { configPath } = input;
  const config = configPath instanceof URL ? configPath.pathname : resolve(root, configPath);
  return unstable_readConfig({ config }) as WorkerConfig;
}

/** Wrangler keeps its settings in HOME, and says a screen of errors where it cannot: then they are kept elsewhere. */
function giveWranglerAHome(): void {
  if (process.env["XDG_CONFIG_HOME"]) return;
  try {
    accessSync(homedir(), constants.W_OK);
  } catch {
    process.env["XDG_CONFIG_HOME"] = mkdtempSync(join(tmpdir(), "wrangler-home-"));
  }
}

/**
 * Who has started what is running now, which a spawned workerd is given to: the asynchronous context tells two runtimes of
 * one process apart, also for what comes late.
 */
const starter = new AsyncLocalStorage<(workerd: ChildProcess) => void>();

onWorkerd((workerd) => {
  // Which of them is of no interest: none may outlive this process.
  endWithThisProcess(workerd);
  starter.getStore()?.(workerd);
});

const isRunning = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode === null && signalCode === null;

function pidOf(process: ChildProcess | undefined): number {
  if (process?.pid === undefined) throw new Error("workerd is not running.");
  return process.pid;
}
