import { join } from "node:path";
import { runPairCli } from "./cli/pair.ts";

// `pnpm pair check | head` closes the pipe: nobody reads on.
process.stdout.on("error", () => process.exit(1));

const appsDir = join(import.meta.dirname, "..", "..", "..", "apps");
process.exitCode = await runPairCli(process.argv.slice(2), appsDir);
