import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { localSecrets } from "../src/runner/local-secrets.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "secrets-"));
});
afterEach(() => rm(folder, { recursive: true }));

const WANTED = { TOKEN: "RANDOM", TOKENS: "dev:RANDOM", MAIL_FROM: "hello@example.com" };

test("what is random is made once, kept for the next start, and read by its owner alone", async () => {
  const state = join(folder, "not", "there", "yet");
  const secrets = await localSecrets(WANTED, state);
  expect(secrets).toEqual({
    TOKEN: expect.stringMatching(/^[0-9a-f]{32}$/),
    TOKENS: expect.stringMatching(/^dev:[0-9a-f]{32}$/),
    MAIL_FROM: "hello@example.com",
  });
  expect(await localSecrets(WANTED, state)).toEqual(secrets);
  expect((await stat(join(state, "dev-secrets.json"))).mode & 0o077).toBe(0);
  // Another folder, another machine.
  expect((await localSecrets(WANTED, join(folder, "other")))["TOKEN"]).not.toBe(secrets["TOKEN"]);
});

test.each(["", "{", "[]", '{ "TOKEN": "short", "TOKENS": 7 }'])(
  "a kept file that holds %j is made anew",
  async (text) => {
    await writeFile(join(folder, "dev-secrets.json"), text);
    const secrets = await localSecrets(WANTED, folder);
    expect(secrets["TOKEN"]).toMatch(/^[0-9a-f]{32}$/);
    expect(secrets["TOKENS"]).toMatch(/^dev:[0-9a-f]{32}$/);
    expect(await localSecrets(WANTED, folder)).toEqual(secrets);
  },
);
