/** Why a Worker could not be built: one place in its sources. */
export interface BuildProblem {
  message: string;
  /** As the bundler names it: absolute, or relative to the Worker's folder. */
  file: string | null;
  /** From 1. */
  line: number | null;
  /** From 1. */
  column: number | null;
}

/**
 * The problems that the bundler found, if the error comes from it; otherwise none.
 *
 * @param error what {@link Runtime.start} or {@link Runtime.rebuild} threw. esbuild lists its errors in `errors`
 *   (esbuild's documentation, "Build errors")
 */
export function buildProblems(error: unknown): BuildProblem[] {
  const errors = typeof error === "object" && error !== null ? Reflect.get(error, "errors") : null;
  if (!Array.isArray(errors)) return [];
  return errors.filter(isMessage).map(({ text, location }) => ({
    message: text,
    file: location?.file ?? null,
    line: location?.line ?? null,
    column: location ? location.column + 1 : null,
  }));
}

interface Message {
  text: string;
  location: { file: string; line: number; column: number } | null;
}

const isMessage = (value: unknown): value is Message =>
  typeof value === "object" && value !== null && typeof Reflect.get(value, "text") === "string";
