import type { Pair } from "@durable-lessons/lab";
import type { GauntletResult } from "@durable-lessons/lab/runner";
import { describe, expect, test } from "vitest";
import { sawInChinese, trialInChinese } from "../i18n/gauntlet.zh-TW.ts";
import { gauntletText } from "../.vitepress/lab/gauntlet-files.ts";
import { countOf, type Grid, gridOf, gridRows, sorted } from "../.vitepress/theme/gauntlet.ts";
import { applyGauntlet, newGauntlet } from "../.vitepress/theme/live-gauntlet.ts";

const mailedTwice = { rule: "mailed-once", saw: "email.sent 2 times" } as const;
const lost = { rule: "messages-are-kept", saw: "acked" } as const;
const grid: Grid = {
  pitfall: [
    { trial: "undisturbed", broken: [] },
    { trial: "mail.send fails", broken: [mailedTwice] },
  ],
  fix: [
    { trial: "undisturbed", broken: [] },
    { trial: "mail.send fails", broken: [mailedTwice, lost] },
    { trial: "mail.send always fails", broken: [lost] },
  ],
};
const exception = { trial: "mail.send fails", breaks: "mailed-once", note: "told" } as const;

describe("a grid", () => {
  const resultOf = (saw: string): GauntletResult => ({
    lesson: "01-onboarding-workflow",
    pair: { id: "a-pair" } as Pair,
    variant: "fix",
    trials: [{ trial: "undisturbed", broken: [{ rule: "done-once", saw }] }],
    stale: [],
    ok: false,
  });

  test("holds no id of a run and no number of an effect: the same code gives the same grid", () => {
    const first = gridOf([resultOf('card.refunded 2 times for {"chargeId":"card_charged_12"}')]);
    expect(first.fix[0]?.broken[0]?.saw).toBe(
      'card.refunded 2 times for {"chargeId":"card_charged_N"}',
    );
    const saw = (run: string) => `card.charged 2 times for order ${run}, and 1 more`;
    expect(gridOf([resultOf(saw("672b3545-e667"))])).toEqual(
      gridOf([resultOf(saw("0b83564e-64f8"))]),
    );
    expect(gridOf([resultOf(saw("0b83564e-64f8-4b21-9f6a-0123456789ab"))]).fix).toEqual(
      gridOf([resultOf(saw("0b83564e-64f8"))]).fix,
    );
    expect(gridOf([resultOf(saw("17"))]).fix[0]?.broken[0]?.saw).toBe(saw("17"));
  });

  test("has a row for each trial of either side, and no cell where a side has no such trial", () => {
    const rows = gridRows(grid, []);
    expect(rows.map(({ trial }) => trial)).toEqual([
      "undisturbed",
      "mail.send fails",
      "mail.send always fails",
    ]);
    expect(rows[2]?.cells).toEqual({ pitfall: null, fix: { told: null, broken: [lost] } });
  });

  test("tells an exception of the fix, and what broke beside it", () => {
    const [, row] = gridRows(grid, [exception]);
    expect(row?.cells.fix).toEqual({ told: exception, broken: [lost] });
    expect(row?.cells.pitfall).toEqual({ told: null, broken: [mailedTwice] });
  });

  test("counts what the fix bears, and an exception only where it is seen", () => {
    expect(countOf(grid, [exception])).toEqual({ trials: 3, borne: 1, told: 1 });
    expect(countOf(grid, [{ trial: "mail.send fails", breaks: "charged-once" }])).toEqual({
      trials: 3,
      borne: 1,
      told: 0,
    });
  });

  test("is stored with a line for each trial; one that is borne is its name", () => {
    const text = gauntletText({ lesson: "01", wrangler: "4", pairs: [{ pair: "a-pair", grid }] });
    expect(JSON.parse(text)).toEqual({
      lesson: "01",
      wrangler: "4",
      pairs: [
        {
          pair: "a-pair",
          grid: {
            pitfall: ["undisturbed", grid.pitfall[1]],
            fix: ["undisturbed", grid.fix[1], grid.fix[2]],
          },
        },
      ],
    });
    expect(text.split("\n").filter((line) => /undisturbed|mail\.send/.test(line))).toHaveLength(5);
  });
});

test("pairs are sorted by what their fix bears, or does not; those that are alike stay in order", () => {
  const entry = (name: string, trials: number, borne: number) => ({
    name,
    gauntlet: { trials, borne, told: 0 },
  });
  const entries = [
    { name: "none", gauntlet: null },
    entry("few", 9, 8),
    entry("many", 20, 20),
    entry("bad", 20, 8),
  ];
  const names = (order: Parameters<typeof sorted>[1]) =>
    sorted(entries, order).map(({ name }) => name);
  expect(names("reading")).toEqual(["none", "few", "many", "bad"]);
  expect(names("borne")).toEqual(["many", "few", "bad", "none"]);
  expect(names("not-borne")).toEqual(["bad", "few", "many", "none"]);
});

test("a live gauntlet counts its trials, learns of more of them, and ends with a grid", () => {
  const state = newGauntlet("starting");
  const ended = {
    type: "trial-ended",
    lesson: "01",
    pair: "a-pair",
    variant: "fix",
    trial: "undisturbed",
  } as const;
  applyGauntlet(state, { type: "starting", lesson: "01", variants: 2 });
  applyGauntlet(state, ended);
  applyGauntlet(state, { type: "trials", lesson: "01", count: 3 });
  expect(state).toMatchObject({ phase: "running", planned: 5, ended: 1, grid: null });
  applyGauntlet(state, { type: "judged", grid });
  expect(state).toMatchObject({ phase: "ended", grid });
  applyGauntlet(state, { type: "failed", message: "It broke." });
  expect(state).toMatchObject({ phase: "failed", error: "It broke." });
});

describe("in Chinese", () => {
  test.each([
    ["mail.send: answer lost", "mail.send 生效了，回應遺失"],
    ["a neighbour is {}", "同批有一則是 {}"],
    [
      "carrier.ship always fails, then killed during stock.release",
      "carrier.ship 一律失敗，接著 呼叫 stock.release 途中強制終止執行環境",
    ],
    ["something new", "something new"],
  ])("the trial %s", (name, chinese) => {
    expect(trialInChinese(name)).toBe(chinese);
  });

  test.each([
    ["card.charged 2 times for order RUN", "訂單 RUN 有 2 次 card.charged"],
    [
      'email.sent 4 times to one address, "Welcome", and 19 more',
      '同一個地址有 4 次 email.sent："Welcome"，另外還有 19 件',
    ],
    ["audit.logged 2 times", "audit.logged 共 2 次"],
    ['account.opened 2 times for {"userId":"RUN"}', 'account.opened 共 2 次：{"userId":"RUN"}'],
    [
      "errored: card.charged, and no card.refunded, and 2 more",
      "errored：有 card.charged，沒有 card.refunded，另外還有 2 件",
    ],
    [
      "complete without 1 email.sent, 2 stock.reserved",
      "complete，卻少了 1 email.sent, 2 stock.reserved",
    ],
    ["parcel.shipped", "parcel.shipped"],
  ])("what is seen: %s", (saw, chinese) => {
    expect(sawInChinese(saw)).toBe(chinese);
  });
});
