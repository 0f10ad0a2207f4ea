/** Asks the lab behind the dev server. */

/** Sends a request to the lab at this URL, which ends with a slash. */
export const post = (lab: string, action: string, body: unknown, signal: AbortSignal) =>
  fetch(`${lab}${action}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

/** The lines of an answer in NDJSON. */
export async function* lines<Line>(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) if (line !== "") yield JSON.parse(line);
    }
  } finally {
    reader.releaseLock();
  }
}

/** What the lab says of a request that it has refused. */
export async function errorOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const body: { error?: string } = JSON.parse(text);
    return body.error ?? text;
  } catch {
    return text;
  }
}

/** Said where the stream ends before its last line. */
export const LOST = "The connection to the dev server was lost.";

/** The words of whatever was thrown. */
export const messageOf = (error: unknown) =>
  error instanceof Error ? error.message : String(error);
