import { join } from "node:path";
import { runCli } from "./cli/run.ts";

const appsDir = join(import.meta.dirname, "..", "..", "..", "apps");
process.exitCode = await runCli(process.argv.slice(2), appsDir);
