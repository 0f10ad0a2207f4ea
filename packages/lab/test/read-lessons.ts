/**
 * Reads lessons in a Node of its own, as the command does: a test runner loads modules in its own way. One Node serves all
 * tests of a file, since each has a folder of its own, and Node keeps modules by their paths.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Lesson, readLessons } from "../src/runner/lessons.ts";

/** Texts by path. */
type Change = Record<string, string>;

interface Question {
  apps: string;
  changes: Change[];
}

/** The other Node, which begins with the first question. */
export class LessonReader {
  #child: ChildProcess | undefined;

  /** Reads the lessons of a folder, once. */
  async read(apps: string): Promise<Lesson[]> {
    const [lessons = []] = await this.#ask({ apps, changes: [] });
    return lessons;
  }

  /** Makes changes in a folder, one after the other, and reads the lessons afresh after each. */
  readAfterEach(apps: string, ...changes: Change[]): Promise<Lesson[][]> {
    return this.#ask({ apps, changes });
  }

  async #ask(question: Question): Promise<Lesson[][]> {
    this.#child ??= fork(import.meta.filename, { execArgv: [] });
    const answered = once(this.#child, "message");
    const end = once(this.#child, "exit").then(() => {
      throw new Error("The Node that reads lessons has ended.");
    });
    end.catch(() => undefined);
    this.#child.send(question);
    const [lessons] = await Promise.race([answered, end]);
    return lessons;
  }

  close(): void {
    this.#child?.disconnect();
  }
}

async function answer({ apps, changes }: Question): Promise<Lesson[][]> {
  if (changes.length === 0) return [await readLessons(apps)];
  const seen = [];
  for (const [nth, change] of changes.entries()) {
    for (const [path, text] of Object.entries(change)) {
      const file = join(apps, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      // Faster than any editor: a time of its own for each change.
      await utimes(file, new Date(), new Date(Date.now() + 1000 * nth));
    }
    seen.push(await readLessons(apps, { fresh: true }));
  }
  return seen;
}

if (process.argv[1] === import.meta.filename) {
  process.on("message", (question: Question) => {
    void answer(question).then((lessons) => process.send?.(lessons));
  });
}
