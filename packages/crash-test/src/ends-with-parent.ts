/**
 * `node --import ends-with-parent.ts …`, with an IPC channel: the process ends itself when the channel closes, as it does
 * when the parent is gone, even by SIGKILL. What it has of workerd ends with it, even by SIGKILL too. Node's own children that
 * are given its `execArgv` and a channel, as wrangler's command gives them, do the same.
 */
import process from "node:process";
import { endWithThisProcess, onWorkerd } from "./orphans.ts";

process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// The channel alone is no reason to stay.
process.channel?.unref();
onWorkerd(endWithThisProcess);
