import { utimes } from "node:fs/promises";
import { join } from "node:path";
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Locator,
  Page,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readGauntlet } from "../../.vitepress/lab/gauntlet-files.ts";
import { complaintsOf, overflowOf, seriousFindings, startChromium } from "./chromium.ts";
import { DevServer } from "../dev-server.ts";

let server: DevServer;
let browser: Browser;
let context: BrowserContext | undefined;
beforeAll(async () => {
  browser = await startChromium();
  server = await DevServer.start();
});
afterEach(async () => {
  await context?.close();
  context = undefined;
});
afterAll(async () => {
  await browser?.close();
  await server?.interrupt();
});

const LESSON = "/lessons/01-onboarding-workflow";
const PITFALLS = join(import.meta.dirname, "../../../apps/01-onboarding-workflow/src/pitfalls");

async function open(path: string, options: BrowserContextOptions = {}) {
  context ??= await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  await page.goto(server.url + path, { waitUntil: "networkidle" });
  return { page, complaints };
}

const pairOn = (page: Page, id: string) => page.locator(`#pair-${id}`).first();
const press = (pair: Locator, name: string) =>
  pair.getByRole("button", { name, exact: true }).click();
const evidence = async (pair: Locator, kind: string) => [
  await pair.locator(`[data-evidence="pitfall ${kind}"] .seen`).innerText(),
  await pair.locator(`[data-evidence="fix ${kind}"] .seen`).innerText(),
];
const untilText = (pair: Locator, text: string) =>
  pair.getByText(text).waitFor({ state: "visible", timeout: 60_000 });

describe("a reader of lesson 1", () => {
  test("reads it: code from its source, recorded evidence, no complaint of the browser", async () => {
    const { page, complaints } = await open(LESSON);
    expect(await page.title()).toContain("1 · Onboarding workflow");
    const pair = pairOn(page, "side-effect-outside-step");
    expect(await pair.locator(".pitfall pre").innerText()).toContain("await env.mail.send(");
    expect(await pair.locator(".fix .highlighted").allInnerTexts()).toEqual([
      expect.stringContaining('step.do("send welcome mail"'),
      expect.stringContaining("stepKey("),
      expect.stringContaining("env.mail.send("),
      "  });",
    ]);
    expect(await pair.locator(".pair-source").innerText()).toMatch(/^Recorded on \d{4}-/);
    expect(await evidence(pair, "email.sent")).toEqual(["2", "1"]);
    expect(complaints).toEqual([]);
  });

  test("runs a pair, kills the runtime, and sees 2 and 1", async () => {
    const { page, complaints } = await open(LESSON);
    const pair = pairOn(page, "side-effect-outside-step");
    const kill = pair.getByRole("button", { name: "Kill the runtime" });
    expect(await kill.isDisabled()).toBe(true);

    await press(pair, "Run");
    await untilText(pair, "Both variants are at the crash point.");
    expect(await pair.locator(".pair-source").innerText()).toBe("Live, from your machine");
    // The pitfall's mail is out, and nothing has been repeated yet.
    expect(await evidence(pair, "email.sent")).toEqual(["1", "1"]);
    expect(await pair.locator(".crash").count()).toBe(0);

    await kill.click();
    await untilText(pair, "as claimed");
    expect(await evidence(pair, "email.sent")).toEqual(["2", "1"]);
    expect(await evidence(pair, "status")).toEqual(["complete", "complete"]);
    expect(await pair.getByRole("status").innerText()).toMatch(
      /workerd \d+ was ended by SIGKILL; workerd \d+ took over its storage\./,
    );
    expect(await pair.locator(".crash line").count()).toBe(1);
    expect(await pair.locator("svg .fix .read-back").count()).toBe(1);
    expect(complaints).toEqual([]);

    await press(pair, "Run again");
    await untilText(pair, "Both variants are at the crash point.");
    expect(await evidence(pair, "email.sent")).toEqual(["1", "1"]);
  });

  test("does all of that with the keyboard alone, and reads the timeline as a table", async () => {
    const { page } = await open(LESSON);
    const pair = pairOn(page, "insert-that-cannot-repeat");
    await pair.getByRole("button", { name: "Run" }).focus();
    await page.keyboard.press("Enter");
    await untilText(pair, "as claimed");
    expect(await evidence(pair, "status")).toEqual(["errored", "complete"]);

    await pair.getByText("The timeline as a table").focus();
    await page.keyboard.press("Enter");
    const rows = await pair.locator(".timeline-table tbody tr").allInnerTexts();
    const cells = rows.map((row) => row.split("\t"));
    expect(
      cells.filter(([run]) => run === "Pitfall").map(([, row, what, , , end]) => [row, what, end]),
    ).toEqual([
      ["open account", "attempt 1", "failed"],
      ["open account", "pause before the retry", "done"],
      ["open account", "attempt 2", "failed"],
    ]);
    expect(cells.filter(([run, , what]) => run === "Fix" && what === "attempt 2")).toHaveLength(1);
  });

  test("sees a source that has changed without doing anything", async () => {
    const { page } = await open(LESSON);
    await page.evaluate(() => Reflect.set(globalThis, "isOld", true));
    await utimes(join(PITFALLS, "double-submit", "fix.ts"), new Date(), new Date());
    await page.waitForFunction(() => !Reflect.has(globalThis, "isOld"));
    await pairOn(page, "double-submit").waitFor();
    expect(await page.evaluate(() => Reflect.has(globalThis, "isOld"))).toBe(false);
  });

  test("finds the lesson with the search", async () => {
    const { page } = await open("/");
    await page.getByRole("button", { name: "Search" }).first().click();
    await page.locator(".VPLocalSearchBox input").fill("idempotency key");
    await page.locator(".VPLocalSearchBox .result").first().waitFor();
    expect(await page.locator(".VPLocalSearchBox .result").first().getAttribute("href")).toContain(
      "/lessons/",
    );
  });
});

describe("what else a fix survives", () => {
  const PAIR = "insert-that-cannot-repeat";
  const gauntletOn = (page: Page) => pairOn(page, PAIR).locator("details.gauntlet");
  const tableOf = (gauntlet: Locator) => gauntlet.locator("td[data-trial]").allInnerTexts();

  test("is folded away, and says what was recorded", async () => {
    const { page, complaints } = await open(LESSON);
    const gauntlet = gauntletOn(page);
    expect(await gauntlet.locator("table").isVisible()).toBe(false);
    await gauntlet.locator("summary").click();
    const recording = await readGauntlet(
      join(import.meta.dirname, "../.."),
      "01-onboarding-workflow",
    );
    const grid = recording?.pairs.find(({ pair }) => pair === PAIR)?.grid;
    const trials = Object.entries(grid ?? {}).flatMap(([side, of]) =>
      of.map((trial) => ({ side, ...trial })),
    );
    expect(trials.length).toBeGreaterThan(8);
    for (const { side, trial, broken } of trials) {
      const cell = await gauntlet.locator(`[data-trial="${side} ${trial}"]`).innerText();
      const words = broken.length === 0 ? ["✓ survives"] : broken.map(({ saw }) => saw);
      expect(words.filter((text) => !cell.includes(text))).toEqual([]);
    }
    const borne = grid?.fix.filter(({ broken }) => broken.length === 0).length;
    expect(await gauntlet.locator("summary").innerText()).toContain(
      `survives ${borne} of ${grid?.fix.length} trials`,
    );
    expect(complaints).toEqual([]);
  });

  test("is tried at the press of a button, stopped at another, and is what was recorded", async () => {
    const { page, complaints } = await open(LESSON);
    const gauntlet = gauntletOn(page);
    await gauntlet.locator("summary").click();
    const recorded = await tableOf(gauntlet);
    const stop = gauntlet.getByRole("button", { name: "Stop" });
    expect(await stop.isDisabled()).toBe(true);

    const before = server.runtimes;
    await press(gauntlet, "Run all trials here");
    await gauntlet.getByRole("progressbar", { name: /^\d+ of \d+ trials$/ }).waitFor();
    await expect
      .poll(() => server.runtimes.length, { timeout: 60_000 })
      .toBeGreaterThan(before.length);
    await stop.click();
    await untilText(gauntlet, "Stopped.");
    await expect
      .poll(() => server.runtimes.filter((pid) => !before.includes(pid)), { timeout: 60_000 })
      .toEqual([]);

    await press(gauntlet, "Run all trials again");
    await gauntlet.getByText("All trials have ended.").waitFor({ timeout: 110_000 });
    expect(await gauntlet.locator(".gauntlet-source").innerText()).toBe("Live, from your machine");
    expect(await tableOf(gauntlet)).toEqual(recorded);
    expect(complaints).toEqual([]);
  }, 240_000);

  test.each([
    ["", "Fixed by:"],
    ["/zh-TW", "解法："],
  ])("an exception leads to the pair that shows the cure: %j", async (locale, cure) => {
    const { page, complaints } = await open(`${locale}/lessons/03-signup-queue`);
    const gauntlet = pairOn(page, "one-throw-fails-the-batch").locator("details.gauntlet");
    await gauntlet.locator("summary").click();
    const cell = gauntlet.locator('[data-trial="fix each message twice"]');
    expect(await cell.innerText()).toContain(cure);
    await cell.getByRole("link").click();
    await page.waitForURL("**/*#pair-no-idempotency");
    expect(await page.locator("#pair-no-idempotency").count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  test("can be read in Chinese", async () => {
    const { page, complaints } = await open(`/zh-TW${LESSON}`);
    const gauntlet = gauntletOn(page);
    expect(await gauntlet.locator("summary").innerText()).toContain("這個修正還撐得住什麼");
    await gauntlet.locator("summary").click();
    expect(await gauntlet.locator("tbody th").first().innerText()).toBe("沒有任何干擾");
    expect(await gauntlet.locator('[data-trial="fix undisturbed"]').innerText()).toBe("✓ 撐得住");
    expect(complaints).toEqual([]);
  });

  test("sorts the catalogue", async () => {
    const { page, complaints } = await open("/pairs");
    const counts = async () => {
      const texts = await page.locator(".catalogue-list .gauntlet-count").allInnerTexts();
      return texts.map((text) => {
        const [, borne, trials] = /^survives (\d+) of (\d+) trials/.exec(text) ?? [];
        return { borne: Number(borne), not: Number(trials) - Number(borne) };
      });
    };
    const inOrder = await counts();
    await page.getByLabel("Sort by").selectOption("borne");
    expect(await counts()).toEqual(inOrder.toSorted((one, other) => other.borne - one.borne));
    await page.getByLabel("Sort by").selectOption("not-borne");
    expect(await counts()).toEqual(inOrder.toSorted((one, other) => other.not - one.not));
    expect(inOrder.length).toBe(await page.locator(".catalogue-list > li").count());
    expect(complaints).toEqual([]);
  });
});

describe("two tabs at once", () => {
  test("of one lesson do not disturb each other's evidence, and one crash serves both", async () => {
    const [one, two] = [await open(LESSON), await open(LESSON)];
    const first = pairOn(one.page, "side-effect-outside-step");
    const second = pairOn(two.page, "counting-in-memory");
    await Promise.all([press(first, "Run"), press(second, "Run")]);
    await Promise.all(
      [first, second].map((pair) => untilText(pair, "Both variants are at the crash point.")),
    );
    await press(first, "Kill the runtime");
    await Promise.all([first, second].map((pair) => untilText(pair, "as claimed")));

    expect(await evidence(first, "email.sent")).toEqual(["2", "1"]);
    expect(await evidence(second, "email.sent")).toEqual(["3", "3"]);
    expect(await evidence(second, "output.sent")).toEqual(["1", "3"]);
    const said = await Promise.all(
      [first, second].map((pair) => pair.getByRole("status").innerText()),
    );
    const [pids, others] = said.map((text) => text.match(/workerd \d+/g));
    expect(pids).toHaveLength(2);
    expect(others).toEqual(pids);
  });
});

describe("in Traditional Chinese", () => {
  test("a pair is run like the other one", async () => {
    const { page, complaints } = await open(`/zh-TW${LESSON}`);
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-TW");
    const pair = pairOn(page, "side-effect-outside-step");
    expect(await pair.locator(".pair-source").innerText()).toContain("錄製");
    await press(pair, "執行");
    await untilText(pair, "兩個版本都到了崩潰點");
    await press(pair, "強制終止執行環境");
    await untilText(pair, "結果如預期");
    expect(await evidence(pair, "email.sent")).toEqual(["2", "1"]);
    expect(await evidence(pair, "status")).toEqual(["完成（complete）", "完成（complete）"]);
    expect(complaints).toEqual([]);
  });
});

test("the catalogue is filtered by engine and symptom", async () => {
  const { page, complaints } = await open("/pairs");
  const list = page.locator(".catalogue-list > li");
  const all = await list.count();
  await page.getByLabel("Symptom").selectOption("stopped");
  expect(await list.allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringContaining("An insert that cannot repeat")]),
  );
  const stopped = await list.count();
  expect(stopped).toBeLessThan(all);
  await page.getByLabel("Engine").selectOption("http");
  expect(await list.count()).toBeLessThan(stopped);
  await page.getByLabel("Symptom").selectOption("twice");
  expect(await page.getByRole("status").innerText()).toBe(`${await list.count()} of ${all} pairs`);
  await list.getByRole("link", { name: "The double click" }).click();
  await page.waitForURL(/01-onboarding-workflow.*#pair-double-submit$/);
  await pairOn(page, "double-submit").waitFor();
  expect(complaints).toEqual([]);
});

test("another site in the same browser cannot run anything", async () => {
  const { page } = await open("/");
  // A page of another origin, since the port is another one.
  await using other = await DevServer.start();
  await page.goto(`${other.url}/choosing`);
  const answer = await page.evaluate(async (url) => {
    const send = (init: RequestInit) =>
      fetch(url, { method: "POST", body: '{"pair":"01/double-submit"}', ...init }).then(
        (response) => `${response.type} ${response.status}`,
        (error: unknown) => String(error),
      );
    return [
      await send({ headers: { "content-type": "application/json" } }),
      // What needs no leave beforehand: the server has to refuse it by itself.
      await send({ mode: "no-cors" }),
    ];
  }, `${server.url}/__lab/run`);
  expect(answer).toEqual([expect.stringContaining("TypeError"), "opaque 0"]);
});

describe.each([
  ["light", 1440],
  ["dark", 375],
] as const)("%s, %d px wide", (colorScheme, width) => {
  test("a pair is legible for everybody, also while it is run", async () => {
    const { page, complaints } = await open("/", { colorScheme, viewport: { width, height: 800 } });
    const pair = pairOn(page, "side-effect-outside-step");
    await press(pair, "Run");
    await untilText(pair, "Both variants are at the crash point.");
    expect(await seriousFindings(page)).toEqual([]);
    await press(pair, "Kill the runtime");
    await untilText(pair, "as claimed");
    await pair.getByText("The timeline as a table").click();
    await pair.locator(".gauntlet > summary").click();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
    expect(complaints).toEqual([]);
  });
});
