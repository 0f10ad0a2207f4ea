/**
 * `node --import ends-with-parent.ts …`, with an IPC channel: the process ends itself when the channel closes, as it does
 * when the parent is gone, even by SIGKILL. A process group of its own would otherwise outlive a test run that is stopped.
 */
import process from "node:process";

process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// The channel alone is no reason to stay.
process.channel?.unref();
