/**
 * Where tests put what they throw away: a Workflow waits for the disk at every step, and in memory there is nothing to wait
 * for. What a killed process has written stays there as it does on a disk.
 */
import { accessSync, constants, statfsSync } from "node:fs";

/** A file system in memory, on Linux. */
const MEMORY = "/dev/shm";

/** A container may have much less, and the tests of a lesson write some hundred megabytes. */
const ENOUGH_BYTES = 2e9;

/** Is there room for temporary files in memory? */
function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/**
 * Lets this process, and those that it starts, keep their temporary files in memory, where the system has room for them
 * there and nobody has set another folder. For the configuration of vitest.
 */
export function keepTemporaryFilesInMemory(folder = MEMORY): void {
  if (!process.env["TMPDIR"] && hasRoom(folder)) process.env["TMPDIR"] = folder;
}
