// What `consumeOnce` adds to a Worker: `pnpm size`. Fails if it is more than it may be, or another number than the README's.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const MOST_BYTES = 12_000;
const here = import.meta.dirname;

const { outputFiles } = await build({
  stdin: { contents: 'export { consumeOnce } from "../src/index.ts";', resolveDir: here },
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  write: false,
});
const [{ contents } = { contents: new Uint8Array() }] = outputFiles;
const kb = (bytes: number) => `${(bytes / 1000).toFixed(1)} KB`;
const size = `${kb(contents.length)} minified, ${kb(gzipSync(contents).length)} gzipped`;
console.log(`consumeOnce: ${size} (${contents.length} bytes)`);

const readme = await readFile(join(here, "../README.md"), "utf8");
const missed = [
  ...(contents.length > MOST_BYTES ? [`More than ${MOST_BYTES} bytes`] : []),
  ...(readme.replaceAll(/\s+/g, " ").includes(size) ? [] : ["The README says otherwise"]),
];
for (const miss of missed) console.error(miss);
process.exitCode = missed.length === 0 ? 0 : 1;
