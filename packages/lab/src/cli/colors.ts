import type { WriteStream } from "node:tty";
import pc from "picocolors";

/** Colours for this stream: only on a terminal that wants them (`NO_COLOR` and `FORCE_COLOR` are heeded). */
export const colorsFor = (stream: Pick<WriteStream, "isTTY">) =>
  pc.createColors(
    (Boolean(stream.isTTY) || Boolean(process.env["FORCE_COLOR"])) && pc.isColorSupported,
  );

/** The functions that colour text, or leave it alone. */
export type Colors = ReturnType<typeof colorsFor>;
