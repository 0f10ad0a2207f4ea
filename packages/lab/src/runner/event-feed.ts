import { setTimeout as delay } from "node:timers/promises";
import { linkAbort } from "./channel.ts";
import type { PlatformEvent } from "./progress.ts";
import type { RunClient } from "./run-client.ts";

/** How long to wait before the platform is asked for events again. */
const EVENTS_AGAIN_MS = 300;
/** How long a last reading of all events may take. */
const LAST_READING_MS = 30_000;

/** Reads the events of a run again and again, since a crash cuts the connection, and passes each on once. */
export class EventFeed {
  readonly #run: RunClient;
  readonly #pass: (event: PlatformEvent) => void;
  readonly #stopped = new AbortController();
  readonly #unlink: () => void;
  readonly #passed = new Set<string>();
  #loop: Promise<void> | undefined;
  #connection = new AbortController();

  constructor(run: RunClient, signal: AbortSignal, pass: (event: PlatformEvent) => void) {
    this.#run = run;
    this.#pass = pass;
    this.#unlink = linkAbort(signal, this.#stopped);
  }

  /** Follows the run; called again, the one that was started in its place. */
  begin(): void {
    this.#connection.abort();
    this.#loop ??= this.#readOn();
  }

  /** Reads the whole log once more, now that it is complete, unless there is none to be had. */
  async end(isComplete: boolean): Promise<void> {
    this.stop();
    await this.#loop;
    if (isComplete) {
      await this.#run.phase(async () => {
        for await (const event of this.#run.events()) this.#once(event);
      }, LAST_READING_MS);
    }
  }

  stop(): void {
    this.#unlink();
    this.#stopped.abort();
    this.#connection.abort();
  }

  async #readOn(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#connection = new AbortController();
      try {
        for await (const event of this.#run.events(this.#connection.signal)) this.#once(event);
      } catch {
        // The runtime is being killed, or everything is being ended: the loop's condition tells which.
      }
      await delay(EVENTS_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The log starts again after a crash and, with the ids of the first, after a restart. */
  #once(event: PlatformEvent): void {
    const { instanceId, eventId, timestamp, type } = event;
    const key = `${instanceId}/${eventId}/${timestamp}/${type}`;
    if (this.#passed.has(key)) return;
    this.#passed.add(key);
    const { stepName, attempt, eventType, retryDelayMs, error } = event;
    this.#pass({
      instanceId,
      eventId,
      timestamp,
      type,
      ...(stepName === undefined ? {} : { stepName }),
      ...(attempt === undefined ? {} : { attempt }),
      ...(eventType === undefined ? {} : { eventType }),
      ...(retryDelayMs === undefined ? {} : { retryDelayMs }),
      ...(error === undefined ? {} : { error: { name: error.name, message: error.message } }),
    });
  }
}
