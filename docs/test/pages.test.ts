import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { withPairs } from "../.vitepress/lab/pages-plugin.ts";
import { catalogue, differingLines, pairPage } from "../.vitepress/lab/pair-pages.ts";
import { evidenceRows } from "../.vitepress/theme/evidence-table.ts";

const docsDir = join(import.meta.dirname, "..");
const sources = { docsDir, appsDir: join(docsDir, "..", "apps") };
const snippet = (file: string) =>
  `<<< ../../apps/01-onboarding-workflow/src/pitfalls/double-submit/${file} [${file}]`;
const group = (...files: string[]) => `::: code-group\n${files.map(snippet).join("\n")}\n:::`;

describe("a page of Markdown", () => {
  test("shows a pair where it shows a pitfall beside its fix", () => {
    const page = withPairs(`# A\n\n${group("pitfall.ts", "fix.ts")}\n\nText\n`);
    expect(page).toBe(
      `# A\n\n<PairView :pair="pair0" />\n\nText\n\n\n<script setup>\n` +
        `import pair0 from "virtual:durable-lessons/pair/01-onboarding-workflow/double-submit";\n</script>\n`,
    );
  });

  test("keeps what else stands in the group", () => {
    const page = withPairs(group("pitfall.ts", "fix.ts", "workflow.ts"));
    expect(page).toContain(`<PairView :pair="pair0" />\n\n${group("workflow.ts")}`);
  });

  test("keeps a group that is no pair", () => {
    const alone = `${group("pitfall.ts", "workflow.ts")}\n`;
    expect(withPairs(alone)).toBe(alone);
  });

  test("shows a pair for a tag, and imports it once", () => {
    const tag = `<Pair name="01-onboarding-workflow/double-submit" />`;
    const page = withPairs(`${tag}\n\n${group("pitfall.ts", "fix.ts")}\n`);
    expect(page.match(/<PairView :pair="pair0" \/>/g)).toHaveLength(2);
    expect(page.match(/import /g)).toHaveLength(1);
  });
});

describe("the lines that differ", () => {
  test("are counted on each side", () => {
    expect(differingLines("a\nb\nc\n", "a\nB\nBB\nc\n")).toEqual({ pitfall: [2], fix: [2, 3] });
  });

  test("may be on one side only", () => {
    expect(differingLines("a\nc\n", "a\nb\nc\n")).toEqual({ pitfall: [], fix: [2] });
    expect(differingLines("a\n", "a\n")).toEqual({ pitfall: [], fix: [] });
  });
});

describe("a pair's page", () => {
  const highlight = (code: string, lines: number[]) => Promise.resolve(`${lines.join()}\n${code}`);

  test("has the code of both sides, with the lines that differ", async () => {
    const { code } = await pairPage(
      sources,
      "01-onboarding-workflow",
      "insert-that-cannot-repeat",
      highlight,
    );
    expect(code.fix).toContain("ON CONFLICT (user_id) DO NOTHING");
    expect(code.pitfall).not.toContain("ON CONFLICT");
    const marked = (side: string) => {
      const [numbers = "", ...lines] = side.split("\n");
      return numbers.split(",").map((number) => lines[Number(number) - 1]?.trim());
    };
    expect(marked(code.fix).join("\n")).toContain("ON CONFLICT");
    expect(marked(code.fix).length).toBeLessThan(4);
  });

  test("is refused for a pair that is not there", async () => {
    await expect(pairPage(sources, "01-onboarding-workflow", "no-such", highlight)).rejects.toThrow(
      "There is no pair 01-onboarding-workflow/no-such.",
    );
  });
});

test("the catalogue says what the two sides differ in, a status too", async () => {
  const entries = await catalogue(sources);
  const evidence = (name: string) => entries.find((entry) => entry.name === name)?.evidence;
  expect(evidence("01/side-effect-outside-step")).toEqual([
    { kind: "email.sent", pitfall: 2, fix: 1 },
  ]);
  expect(evidence("01/insert-that-cannot-repeat")).toEqual([
    { kind: "status", pitfall: "errored", fix: "complete" },
    { kind: "account.opened", pitfall: 0, fix: 1 },
  ]);
});

describe("the table of evidence", () => {
  const expected = { pitfall: { "email.sent": 2 }, fix: { "email.sent": 1, "output.sent": 3 } };
  const trace = (evidence: Record<string, unknown>) => ({
    status: "running",
    evidence,
    events: [],
    marks: [],
  });

  test("counts from zero while the runs go on, and judges nothing yet", () => {
    const runs = { pitfall: trace({ "email.sent": 1 }), fix: trace({}) };
    const rows = evidenceRows(expected, { runs, crash: null }, null);
    expect(rows.map(({ kind, cells }) => [kind, cells.pitfall.seen, cells.fix.seen])).toEqual([
      ["email.sent", "1", "0"],
      ["output.sent", "–", "–"],
      ["status", "running", "running"],
    ]);
    expect(rows[0]).toMatchObject({ isContrast: true, cells: { pitfall: { ok: null } } });
  });

  test("marks what is not as expected, an effect that nobody named too", () => {
    const runs = { pitfall: trace({}), fix: trace({}) };
    const outcome = { status: "complete", error: null, expected: {}, ok: false };
    const rows = evidenceRows(
      expected,
      { runs, crash: null },
      {
        pitfall: {
          ...outcome,
          evidence: { "email.sent": 2, "card.charged": 1 },
          differences: [{ kind: "card.charged", expected: 0, seen: 1 }],
        },
        fix: { ...outcome, evidence: { "email.sent": 1, "output.sent": 3 }, differences: [] },
      },
    );
    const row = rows.find(({ kind }) => kind === "card.charged");
    expect(row?.cells.pitfall).toEqual({ seen: "1", expected: "0", ok: false });
    expect(rows.filter(({ cells }) => cells.fix.ok === false)).toEqual([]);
  });
});
