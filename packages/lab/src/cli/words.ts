import { parseArgs, type ParseArgsConfig } from "node:util";

/** A call that does not say what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Node's `parseArgs`, with its complaints in our own words.
 *
 * @param takes what options take that take something: `{ "--apps": "a folder" }`
 * @throws UsageError
 */
export function parseWords<Options extends NonNullable<ParseArgsConfig["options"]>>(
  args: string[],
  options: Options,
  takes: Record<string, string>,
) {
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    const [, option = ""] = /'(?:-\w, )?(-[^' ]+)/.exec(String(error)) ?? [];
    const isUnknown =
      error instanceof Error && "code" in error && error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION";
    const text = isUnknown
      ? `There is no option ${option}.`
      : `${option} takes ${takes[option] ?? "no value"}.`;
    throw new UsageError(text, { cause: error });
  }
}

/** What `--timeout` takes. */
export const SECONDS = "seconds, more than 0 and at most 3600";

/**
 * The milliseconds of `--timeout`.
 *
 * @throws UsageError
 */
export function timeoutOf(value: string): number {
  const seconds = Number(value);
  if (!(seconds > 0 && seconds <= 3600)) {
    throw new UsageError(`--timeout takes ${SECONDS}, not "${value}".`);
  }
  return seconds * 1000;
}
