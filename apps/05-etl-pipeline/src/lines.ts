/** Characters that are cut into lines together. */
const PIECE_LENGTH = 65_536;

/** Cuts a stream of text into lines, those of a piece together. */
export function splitLines(): TransformStream<string, string[]> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      rest += chunk;
      if (rest.length < PIECE_LENGTH) return;
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      controller.enqueue(lines);
    },
    flush(controller) {
      controller.enqueue(rest.split("\n"));
    },
  });
}
