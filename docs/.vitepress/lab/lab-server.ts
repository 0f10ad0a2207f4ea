import { stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { sep } from "node:path";
import { VARIANTS } from "@durable-lessons/lab";
import { labRefusal } from "@durable-lessons/lab/guard";
import {
  findLessons,
  type GauntletProgress,
  type Lesson,
  LessonSession,
  type Progress,
  linkAbort,
  runGauntlet,
  select,
  type Selection,
  UnknownNameError,
} from "@durable-lessons/lab/runner";
import { type Grid, gridOf } from "../theme/gauntlet.ts";

/** What a line of a run's stream holds. */
export type StreamedProgress = Progress | { type: "failed"; message: string };

/** What a line of a gauntlet's stream holds. */
export type StreamedGauntlet =
  | Extract<GauntletProgress, { type: "starting" | "trial-ended" | "trials" }>
  | { type: "judged"; grid: Grid }
  | { type: "failed"; message: string };

/** A body is `{ "pair": "01/double-submit" }`: anything longer is none. */
const MAX_BODY_BYTES = 1000;

class BadRequestError extends Error {
  override readonly name = "BadRequestError";
}

/**
 * Answers `run` and `crash` with a session for each lesson, that starts when a pair of it is first run; and `gauntlet`, with
 * a runtime for each that asks.
 */
export class LabServer {
  readonly #appsDir: string;
  readonly #sessions = new Map<string, LessonSession>();
  /** When a source was last changed, as far as it was told. */
  readonly #changes = new Map<string, number>();
  readonly #gauntlets = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  /** @param appsDir the folder of the lessons */
  constructor(appsDir: string) {
    this.#appsDir = appsDir;
  }

  /**
   * Answers a request.
   *
   * @param action `run`: streams the progress of `{ "pair": "01/double-submit" }` as NDJSON and gives the run up when the
   *   client leaves; `crash`: kills the runtime of `{ "lesson": "01" }` once its runs are ready and says what was killed;
   *   `gauntlet`: takes both sides of a pair through all trials, streamed and given up like a run
   */
  async handle(action: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = labRefusal({
      method: request.method,
      remoteAddress: request.socket.remoteAddress,
      headers: request.headers,
    });
    if (refused) return answer(response, refused.status, { error: refused.error });
    try {
      const body = await jsonBody(request);
      if (action === "run") await this.#run(body, response);
      else if (action === "crash") await this.#crash(body, response);
      else if (action === "gauntlet") await this.#gauntlet(body, response);
      else answer(response, 404, { error: "The lab knows run, crash and gauntlet." });
    } catch (error) {
      const isBad = error instanceof BadRequestError || error instanceof UnknownNameError;
      const status = isBad ? 400 : 500;
      if (!response.headersSent) answer(response, status, { error: messageOf(error) });
      else response.destroy();
    }
  }

  /**
   * Ends the session of the lesson that a changed file belongs to: its next run takes the new code. A watcher may tell of
   * one change more than once, the last time when that next run reads the file.
   */
  async sourceChanged(file: string): Promise<void> {
    const changedAt = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.NaN,
    );
    if (this.#changes.get(file) === changedAt) return;
    this.#changes.set(file, changedAt);
    // Those that there are now: while one ends, the next may begin, and that one has the new code.
    const old = [...this.#sessions.values()].filter(({ lesson }) =>
      file.startsWith(lesson.dir + sep),
    );
    await Promise.all(old.map((session) => this.#end(session)));
  }

  /** Ends every session. */
  async close(): Promise<void> {
    this.#closing.abort(CLOSING);
    await Promise.all([
      ...[...this.#sessions.values()].map((session) => this.#end(session)),
      ...this.#gauntlets,
    ]);
  }

  async #run(body: Record<string, unknown>, response: ServerResponse): Promise<void> {
    const { lesson, pair } = await this.#selectedPair(body["pair"]);
    await stream(response, (left) => this.#session(lesson).run(pair, left));
  }

  async #gauntlet(body: Record<string, unknown>, response: ServerResponse): Promise<void> {
    const selection = await this.#selectedPair(body["pair"]);
    const stopped = new AbortController();
    const unlink = linkAbort(this.#closing.signal, stopped);
    const tried = stream(response, (left) => {
      // It ends with the response.
      linkAbort(left, stopped);
      return gauntletOf(selection, stopped.signal);
    });
    this.#gauntlets.add(tried);
    await tried.finally(() => {
      unlink();
      this.#gauntlets.delete(tried);
    });
  }

  async #crash(body: Record<string, unknown>, response: ServerResponse): Promise<void> {
    const { lesson } = await this.#selected(body["lesson"]);
    const session = this.#sessions.get(lesson.id);
    if (!session) throw new BadRequestError("Nothing of this lesson is running.");
    answer(response, 200, await session.crash());
  }

  async #selected(name: unknown) {
    if (typeof name !== "string") throw new BadRequestError("Name a lesson or a pair.");
    const lessons = await findLessons(this.#appsDir);
    const [selection] = await select(lessons, [name], { fresh: true });
    if (!selection) throw new BadRequestError("Name a lesson or a pair.");
    return selection;
  }

  async #selectedPair(name: unknown) {
    const selection = await this.#selected(name);
    const { pairs, broken } = selection;
    if (broken[0]) throw new BadRequestError(`${broken[0].file}: ${broken[0].message}`);
    const [pair] = pairs;
    if (!pair || pairs.length !== 1) throw new BadRequestError("A run takes one pair.");
    return { ...selection, pair };
  }

  #session(lesson: Lesson): LessonSession {
    this.#closing.signal.throwIfAborted();
    const session = this.#sessions.get(lesson.id) ?? new LessonSession(lesson);
    this.#sessions.set(lesson.id, session);
    return session;
  }

  async #end(session: LessonSession): Promise<void> {
    if (this.#sessions.get(session.lesson.id) === session) {
      this.#sessions.delete(session.lesson.id);
    }
    await session.close();
  }
}

const CLOSING = new Error("The server is ending.");

async function* gauntletOf(
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<StreamedGauntlet> {
  for await (const progress of runGauntlet([selection], { variants: VARIANTS, signal })) {
    switch (progress.type) {
      case "starting":
      case "trials":
      case "trial-ended":
        yield progress;
        break;
      case "pair-judged":
        yield { type: "judged", grid: gridOf(progress.results) };
        break;
      // A pair alone has none of the rest, or its page does not show it.
      case "crashed":
      case "flow-judged":
      case "flow-trial-ended":
      case "pair-unreadable":
      case "runtime-lost":
    }
  }
}

/** Answers with NDJSON: a line for whatever `work` yields, and one that says `failed` where it throws. */
async function stream(
  response: ServerResponse,
  work: (left: AbortSignal) => AsyncIterable<StreamedGauntlet | StreamedProgress>,
): Promise<void> {
  const left = new AbortController();
  response.on("close", () => left.abort(new Error("The reader has left.")));
  response.writeHead(200, {
    "content-type": "application/x-ndjson; charset=utf-8",
    "cache-control": "no-store",
  });
  const write = (line: StreamedGauntlet | StreamedProgress) =>
    response.write(`${JSON.stringify(line)}\n`);
  try {
    for await (const line of work(left.signal)) write(line);
  } catch (error) {
    if (!left.signal.aborted) write({ type: "failed", message: messageOf(error) });
  }
  response.end();
}

async function jsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_BODY_BYTES) throw new BadRequestError("The body is too long.");
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new BadRequestError("The body is not JSON.");
  }
  if (typeof body !== "object" || body === null)
    throw new BadRequestError("The body is no object.");
  return { ...body };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
