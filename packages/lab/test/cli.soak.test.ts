/** The command on a terminal, and broken off. Each of these starts processes: `pnpm test` takes one of a kind, `pnpm test:soak` all. */
import { existsSync } from "node:fs";
import { SOAKING } from "@durable-lessons/test-kit/soak";
import { afterEach, describe, expect, test, vi } from "vitest";
import { APPS, fixtureLesson } from "./fixture.ts";
import { CLI, compare, gone, killLaunched, launchOnTerminal, pidOf, workerds } from "./launch.ts";
import { HAS_PROC } from "./processes.ts";

/** A pair whose sides do not end at once. */
const LONG = "99/wait-without-an-end";

afterEach(killLaunched);

describe.skipIf(!HAS_PROC)(
  "broken off (skipped without /proc: nothing tells of the processes)",
  () => {
    test("Ctrl-C ends it with 130 and leaves no process behind", async () => {
      const run = compare([LONG]);
      const workers = await workerds(run);
      // To the whole group, as a terminal sends it.
      process.kill(-pidOf(run), "SIGINT");
      expect(await run.ended).toBe(130);
      expect(run.output.stderr).toBe("Stopped.\n");
      await gone(workers);
    });

    test.skipIf(!SOAKING)("SIGTERM ends it with 143 and leaves no process behind", async () => {
      const run = compare([LONG, "--json"]);
      const workers = await workerds(run);
      process.kill(pidOf(run), "SIGTERM");
      expect(await run.ended).toBe(143);
      expect(run.output).toEqual({ stdout: "", stderr: "Stopped.\n" });
      await gone(workers);
    });

    test.skipIf(!SOAKING)(
      "the reader of its pipe goes away: it ends without a word and without a process",
      async () => {
        const run = compare(["99/message-twice"]);
        const workers = await workerds(run);
        run.child.stdout?.destroy();
        expect(await run.ended).toBe(1);
        expect(run.output.stderr).toBe("");
        await gone(workers);
      },
    );
  },
);

describe.skipIf(!existsSync("/usr/bin/script"))(
  "on a terminal (skipped without /usr/bin/script: nothing gives us one)",
  () => {
    const onTerminal = (args: string[]) => launchOnTerminal(CLI, ["--apps", APPS, ...args]);

    test("it offers the pairs, and Ctrl-C leaves it with 130 and nothing run", async () => {
      const run = onTerminal([]);
      await vi.waitFor(
        () => {
          expect(run.output.stdout).toContain("Which pairs should run?");
          expect(run.output.stdout).toContain("99/crash-after-an-effect");
        },
        { timeout: 30_000 },
      );
      const { pairs } = await fixtureLesson();
      // There are more of them than the list shows at once.
      run.child.stdin?.write("\u001B[B".repeat(pairs.length - 1));
      await vi.waitFor(() => {
        for (const { id } of pairs) expect(run.output.stdout).toContain(`99/${id}`);
      });
      run.child.stdin?.write("\u0003");
      expect(await run.ended).toBe(130);
      expect(run.output.stdout).not.toContain("as expected");
    });

    test.skipIf(!SOAKING)("it runs what was chosen of the list", async () => {
      const run = onTerminal([]);
      await vi.waitFor(() => expect(run.output.stdout).toContain("99/crash-after-an-effect"), {
        timeout: 30_000,
      });
      const { pairs } = await fixtureLesson();
      const down = "\u001B[B".repeat(pairs.findIndex(({ id }) => id === "message-twice"));
      run.child.stdin?.write(`${down} \r`);
      expect(await run.ended).toBe(0);
      expect(run.output.stdout).toContain("1 pair: 1 as expected, 0 not");
      // In colours, with a line that is written anew while it works and is gone at the end.
      expect(run.output.stdout).toContain("\u001B[32m✓");
      expect(run.output.stdout).toContain("… 99-fixture: starting workerd");
      expect(run.output.stdout).toContain("… 2 of 2 runs ended\r\u001B[2K");
    });
  },
);
