import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { nameInRepository } from "./read-lesson.ts";
import { API, type Diagnostic } from "typescript/unstable/async";

/** What the compiler says of a file. */
export interface TypeProblem {
  /** `apps/01-…/src/pitfalls/…/yours.ts:12:5`. */
  at: string;
  /** In the compiler's words, with its number: `TS2339: Property …`. */
  message: string;
}

/** The compiler, kept at work on one lesson: the first question takes a second, each further one a tenth of it. */
export class TypeChecker {
  readonly #dir: string;
  readonly #config: string;
  readonly #api: API;
  #isOpen = false;

  /** @param dir absolute path of the lesson */
  constructor(dir: string) {
    this.#dir = dir;
    this.#config = join(dir, "tsconfig.json");
    this.#api = new API({ cwd: dir });
  }

  /**
   * Checks one file of the lesson, as it is on the disk.
   *
   * @param file absolute path
   * @returns `syntax`: what keeps it from being built; `types`: all else
   */
  async check(file: string): Promise<{ syntax: TypeProblem[]; types: TypeProblem[] }> {
    const snapshot = await this.#api.updateSnapshot(
      this.#isOpen ? { fileChanges: { invalidateAll: true } } : { openProjects: [this.#config] },
    );
    this.#isOpen = true;
    try {
      const program = snapshot.getProject(this.#config)?.program;
      if (!program) throw new Error(`The compiler does not know ${this.#config}.`);
      const text = await readFile(file, "utf8");
      const problems = async (found: Promise<readonly Diagnostic[]>) =>
        (await found).map((one) => this.#problem(file, text, one));
      const syntax = await problems(program.getSyntacticDiagnostics(file));
      if (syntax.length > 0) return { syntax, types: [] };
      return { syntax, types: await problems(program.getSemanticDiagnostics(file)) };
    } finally {
      await snapshot.dispose();
    }
  }

  /** Ends the compiler. */
  close(): Promise<void> {
    return this.#api.close();
  }

  #problem(file: string, source: string, { pos, code, text, messageChain }: Diagnostic) {
    const before = source.slice(0, pos).split("\n");
    const name = nameInRepository({ dir: this.#dir }, file);
    const more = (messageChain ?? []).map((part) => `\n  ${part.text}`).join("");
    return {
      at: `${name}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`,
      message: `TS${code}: ${text}${more}`,
    };
  }
}
