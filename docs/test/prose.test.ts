import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** What the linter says of a text, as if it stood in a file of this name: its messages, in the text's order. */
const lint = (text: string, name: string) =>
  new Promise<string[]>((resolve, reject) => {
    const linter = join(root, "node_modules/textlint/bin/textlint.js");
    const args = [linter, "--stdin", "--stdin-filename", name, "--format", "json"];
    const child = execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) => {
      if (stdout === "") return reject(new Error(stderr, { cause: error }));
      const [file] = JSON.parse(stdout) as { messages: { message: string }[] }[];
      resolve(file?.messages.map(({ message }) => message.split("\n")[0] ?? "") ?? []);
    });
    child.stdin?.end(text);
  });

/** Texts with planted faults, and each fault's correction. */
const PLANTED = {
  English: {
    path: "docs/lessons/planted.md",
    right:
      "Every call needs an idempotency key. A `belongs into` in code is nobody's business in JavaScript.",
    faults: [
      ["What leaves the Worker belongs into a step.", "belongs into => belongs in"],
      ["Every call needs an idempotent key.", "idempotent key => idempotency key"],
      ["The scripts run on NodeJS.", "NodeJS => Node.js"],
      ["The wait ends with a time-out.", "time-out => timeout"],
      ["A step that fails in silence is lost.", "in silence => silently"],
    ],
  },
  Chinese: {
    path: "docs/zh-TW/lessons/planted.md",
    right: "步驟的結果寫進資料庫，預設會重試五次。",
    faults: [
      ["步驟的結果寫進數據庫。", "數據庫 => 資料庫"],
      ["服務器停了。", "服務器 => 伺服器"],
      ["默認會重試五次。", "默認 => 預設"],
      ["這個軟件可以安裝。", "軟件 => 軟體"],
      ["普通的異步函式。", "異步 => 非同步"],
    ],
  },
};

describe.each(Object.entries(PLANTED))("the linter for prose, in %s", (_language, planted) => {
  test("takes a right text", async () => {
    expect(await lint(planted.right, planted.path)).toEqual([]);
  });

  test("names five planted faults, and the words that belong there", async () => {
    const text = planted.faults.map(([sentence]) => sentence).join("\n\n");
    expect(await lint(text, planted.path)).toEqual(planted.faults.map(([, message]) => message));
  });

  test("names them in a pair's texts as well", async () => {
    const text = planted.faults.map(([sentence]) => `  claim: "${sentence}",\n`).join("");
    expect(await lint(text, "apps/01-onboarding-workflow/src/pitfalls/planted/pair.ts")).toEqual(
      planted.faults.map(([, message]) => message),
    );
  });
});
