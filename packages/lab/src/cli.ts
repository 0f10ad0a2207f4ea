import { join } from "node:path";
import { runCli } from "./cli/run.ts";

// `pnpm compare | head` closes the pipe: nobody reads on, and miniflare's exit hook ends workerd.
process.stdout.on("error", () => process.exit(1));

const appsDir = join(import.meta.dirname, "..", "..", "..", "apps");
process.exitCode = await runCli(process.argv.slice(2), appsDir);
