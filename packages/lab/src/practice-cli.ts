import { join } from "node:path";
import { runPracticeCli } from "./cli/practice.ts";

// `pnpm practice list | head` closes the pipe: nobody reads on, and miniflare's exit hook ends workerd.
process.stdout.on("error", () => process.exit(1));

const appsDir = join(import.meta.dirname, "..", "..", "..", "apps");
process.exitCode = await runPracticeCli(process.argv.slice(2), appsDir);
