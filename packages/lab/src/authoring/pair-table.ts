import type { Expectation, Pair } from "../pair.ts";

/** A row of the table of pairs in a lesson's README: what it says of its pair. */
export interface PairRow {
  pair: string;
  /** Its last cell: `` `email.sent` 2 → 1 ``. */
  evidence: string;
  /** The whole line. */
  text: string;
}

const HEADER = /^\| Pair \|.*\n\|[ |:-]+\n/m;

/** The rows of the table of pairs, in their order. */
export function pairRows(readme: string): PairRow[] {
  const table = HEADER.exec(readme);
  if (!table) return [];
  const [rows = ""] = /^(?:\|.*(?:\n|$))*/.exec(readme.slice(table.index + table[0].length)) ?? [];
  return rows.split("\n").flatMap((line) => {
    const cells = line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim());
    const [, pair] = /^`([^`]+)`$/.exec(cells[0] ?? "") ?? [];
    return pair ? [{ pair, evidence: cells.at(-1) ?? "", text: line }] : [];
  });
}

/** The README with a row for this pair at the end of its table, as its `expect` says; null where it has no such table. */
export function withPairRow(readme: string, { id, expect }: Pick<Pair, "expect" | "id">) {
  const last = pairRows(readme).at(-1);
  const [header = ""] = HEADER.exec(readme) ?? [];
  if (!last) return null;
  const kinds = Object.keys(expect.pitfall).filter(
    (kind) => valueOf(expect.pitfall, kind) !== valueOf(expect.fix, kind),
  );
  const evidence = kinds
    .map((kind) => `\`${kind}\` ${valueOf(expect.pitfall, kind)} → ${valueOf(expect.fix, kind)}`)
    .join(", ");
  const between = header.split("\n")[0]?.split("|").slice(2, -2) ?? [];
  const row = ["", ` \`${id}\` `, ...between.map(() => " TODO "), ` ${evidence} `, ""].join("|");
  return readme.replace(
    new RegExp(`^\\| \`${last.pair}\` \\|.*\n`, "m"),
    (line) => line + row + "\n",
  );
}

/**
 * What a row's evidence says and the pair's `expect` does not. Of `` `email.sent` 2 → 1 `` both numbers must be those of
 * the kind. Other words, as in `dead letters 3 → 1`, must be values of their side.
 *
 * @returns one sentence for each difference
 */
export function wrongEvidence(evidence: string, expect: Pair["expect"]): string[] {
  const changes = [...evidence.matchAll(/([^→]*?)(`[^`]+`|\d+) → (`[^`]+`|\d+)/g)];
  if (changes.length === 0) return ["it says no evidence: `kind` before → after"];
  return changes.flatMap(([change, words = "", before = "", after = ""]) => {
    const kinds = [...words.matchAll(/`([a-z]+\.[\w.-]+)`/g)].flatMap(([, kind]) => kind ?? []);
    const sides = [
      { side: "pitfall", text: plain(before), expected: expect.pitfall },
      { side: "fix", text: plain(after), expected: expect.fix },
    ];
    return sides.flatMap(({ side, text, expected }) => {
      const isTrue =
        kinds.length > 0
          ? kinds.every((kind) => String(valueOf(expected, kind)) === text)
          : [statusOf(expected), ...Object.values(expected)].map(String).includes(text);
      return isTrue ? [] : [`"${change.replace(/^,? /, "")}" is not what ${side} expects`];
    });
  });
}

const plain = (text: string) => text.replaceAll("`", "");

const statusOf = ({ status = "complete" }: Expectation) => status;

/** What a side expects of a kind: an effect that is not named must not happen. */
const valueOf = (expected: Expectation, kind: string): boolean | number | string =>
  new Map(Object.entries(expected)).get(kind) ?? 0;
