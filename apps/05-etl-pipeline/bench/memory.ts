/** `pnpm bench`: how much memory a large file takes, row by row and as a whole. */
import { parseArgs } from "node:util";
import { measure } from "./heap.ts";

const USAGE = `pnpm bench [--mb 100] [--json]

  --mb      size of the file, in megabytes
  --json    one list on standard output, for a program
  --help    this text`;

const { values } = parseArgs({
  options: {
    mb: { type: "string", default: "100" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
const megabytes = Number(values.mb);

if (values.help) {
  console.log(USAGE);
} else if (!Number.isInteger(megabytes) || megabytes < 1) {
  console.error(`--mb must be a whole number\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  const all = [];
  for (const way of ["transform", "load", "whole-file"]) {
    const measured = await measure(way, megabytes);
    all.push(measured);
    if (values.json) continue;
    const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`.padStart(8);
    console.log(
      `${way.padEnd(12)} file ${mb(measured.bytes)}, ${measured.rows} rows, peak ${mb(measured.peakBytes)}`,
    );
  }
  if (values.json) console.log(JSON.stringify(all, null, 2));
}
