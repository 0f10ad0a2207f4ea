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
    right:
      "復原（rollback）時，每個步驟帶一個冪等鍵（idempotency key）：`step.do` 預設重試 5 次，默默記在資料庫。",
    faults: [
      ["步驟的結果寫進數據庫。", "數據庫 => 資料庫"],
      ["錯誤沒被接住就會回復。", "回復 => 復原"],
      ["每個 step 都要 await。", "個 step => 個步驟"],
      ["實例不占記憶體,也不花錢。", "體, => 體，"],
      ["預設會重試5 次。", "試5 => 試 5"],
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
