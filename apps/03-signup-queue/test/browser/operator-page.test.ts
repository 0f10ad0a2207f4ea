import { access } from "node:fs/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { signupId } from "../../src/signup-id.ts";
import { letters, mailsOf, startWorkers, TOKEN, type Workers } from "../node/workers.ts";

const CHROMIUM = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";

let workers: Workers;
let browser: Browser;
beforeAll(async () => {
  await access(CHROMIUM).catch(() => {
    throw new Error(
      `There is no browser at ${CHROMIUM}. Install one (apt-get install -y chromium), or set CHROMIUM_PATH.`,
    );
  });
  [workers, browser] = await Promise.all([
    startWorkers(),
    chromium.launch({
      executablePath: CHROMIUM,
      args: [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await workers?.close();
});

let page: Page;
/** What the page complained of: a script that threw, a policy that was broken. */
let complaints: string[];
beforeEach(async () => {
  await workers.DB.exec("DELETE FROM dead_letters; DELETE FROM idempotency_keys");
  page = await browser.newPage();
  complaints = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(workers.url);
  return () => page.close();
});

async function newLetter(id: string, body: unknown, reason = "the mail provider was away") {
  await workers.DB.prepare(
    "INSERT INTO dead_letters (id, body, reason, attempts, stored_at) VALUES (?1, ?2, ?3, 4, ?4)",
  )
    .bind(id, JSON.stringify(body), reason, Date.UTC(2026, 10, 29))
    .run();
}

async function signIn(token = TOKEN) {
  await page.getByLabel("Operator token").fill(token);
  await page.getByRole("button", { name: "Show" }).click();
}

const rows = () => page.locator("tbody tr");
const sees = async (text: string) => {
  await page.getByText(text).first().waitFor();
};

describe("the operator's page", () => {
  test("shows nothing without a token, and says why", async () => {
    await newLetter("letter-1", { email: "ada@example.com" });
    await signIn("wrong");
    await sees("with your operator token");
    expect(await rows().count()).toBe(0);
    expect(await page.content()).not.toContain("ada@example.com");
  });

  test("shows the dead letters with reason, attempts and body", async () => {
    await newLetter("letter-1", { email: "ada@example.com" });
    await newLetter("letter-2", null, "the body must be a JSON object");
    await signIn();
    await sees("2 waiting for a decision.");
    expect(await rows().count()).toBe(2);
    const first = page.locator('[data-id="letter-1"]');
    expect(await first.locator("td").allInnerTexts()).toEqual([
      "",
      "2026-11-29 00:00 UTC",
      "the mail provider was away",
      "4",
      '{\n  "email": "ada@example.com"\n}',
      "Redrive Discard",
    ]);
    expect(complaints).toEqual([]);
  });

  test("shows what others wrote as text, and runs none of it", async () => {
    const attack = `<img src=x onerror="globalThis.attacked = true"><script>globalThis.attacked = true</script>`;
    await newLetter(attack, { email: attack, [attack]: attack }, attack);
    await signIn();
    await sees("1 waiting for a decision.");
    const cells = await rows().locator("td").allInnerTexts();
    expect(cells[2]).toBe(attack);
    expect(JSON.parse(cells[4] ?? "")).toEqual({ email: attack, [attack]: attack });
    expect(await page.locator("td img, td script").count()).toBe(0);
    await page.getByRole("button", { name: "Redrive", exact: true }).click();
    await sees("is redriven");
    expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
    expect(complaints).toEqual([]);
    // It is no signup, so it comes back: before the next test begins.
    await vi.waitUntil(async () => (await letters(workers, "settled_at IS NULL")) === 1, PATIENTLY);
  });

  test("redrives: the mail goes out, and the page says who did it", async () => {
    const email = `ada+${crypto.randomUUID()}@example.com`;
    const id = await signupId(email);
    await newLetter("letter-1", { id, email });
    await signIn();
    await page.getByRole("button", { name: "Redrive", exact: true }).click();
    await sees("letter-1 is redriven. 0 waiting for a decision.");
    expect(await page.locator("table").isVisible()).toBe(false);
    await vi.waitUntil(async () => (await mailsOf(workers, id)) === 1, PATIENTLY);
    await page.getByLabel("settled ones").check();
    await page.getByRole("button", { name: "Show" }).click();
    await sees("1 settled.");
    expect(await rows().innerText()).toContain("redriven by ada, 20");
    expect(await page.getByRole("button", { name: "Redrive", exact: true }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("discards only after a second thought", async () => {
    await newLetter("letter-1", { email: "ada@example.com" });
    await signIn();
    const discard = page.getByRole("button", { name: "Discard", exact: true });
    page.once("dialog", (dialog) => dialog.dismiss());
    await discard.click();
    await sees("Nothing was discarded.");
    expect(await letters(workers, "settled_at IS NULL")).toBe(1);
    page.once("dialog", (dialog) => dialog.accept());
    await discard.click();
    await sees("letter-1 is discarded. 0 waiting for a decision.");
    expect(await letters(workers, "settled_as = 'discarded'")).toBe(1);
  });

  test("says who was faster", async () => {
    await newLetter("letter-1", { email: "ada@example.com" });
    await signIn();
    await sees("1 waiting for a decision.");
    await workers.fetch("/dead-letters/letter-1", {
      method: "DELETE",
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    await page.getByRole("button", { name: "Redrive", exact: true }).click();
    await sees("This dead letter was discarded by ada at 20");
    expect(await letters(workers, "settled_as = 'discarded'")).toBe(1);
  });

  test("redrives many: the chosen ones, and all of a reason", async () => {
    for (let nth = 0; nth < 150; nth++) {
      const email = `many-${nth}@example.com`;
      await newLetter(
        `letter-${nth}`,
        { id: await signupId(email), email },
        nth < 3 ? "odd" : "outage",
      );
    }
    await signIn();
    await sees("100 and more waiting for a decision.");
    await page.getByRole("button", { name: "More" }).click();
    await sees("150 waiting for a decision.");
    await page.getByLabel("Reason").selectOption("odd");
    await sees("3 waiting for a decision.");
    await page.getByLabel("choose letter-1").check();
    await page.getByRole("button", { name: "Redrive many" }).click();
    await sees("1 are redriven. 2 waiting for a decision.");
    await page.getByLabel("Reason").selectOption("outage");
    await sees("100 and more waiting");
    await page.getByRole("button", { name: "Redrive many" }).click();
    await sees("147 are redriven. 2 waiting for a decision.");
    expect(await letters(workers, "settled_as = 'redriven'")).toBe(148);
    expect(complaints).toEqual([]);
  });
});

describe("the signup form", () => {
  const form = () => page.goto(new URL("/signup", workers.url).href);
  const mailTo = async (email: string) => mailsOf(workers, await signupId(email));

  test("answers in place, and the mail goes out", async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    await form();
    await page.getByLabel("Email address").fill(email);
    await page.getByLabel("Name").fill("Ada");
    await page.getByRole("button", { name: "Sign up" }).click();
    await sees("An email is on its way");
    expect(new URL(page.url()).search).toBe("");
    await vi.waitUntil(async () => (await mailTo(email)) === 1, PATIENTLY);
    expect(complaints).toEqual([]);
  });

  test("works without any script, also where something is wrong", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
    const email = `${crypto.randomUUID()}@example.com`;
    await form();
    await page.getByLabel("Email address").fill("nobody");
    await page.getByRole("button", { name: "Sign up" }).click();
    await sees("email must be an email address");
    expect(await page.getByLabel("Email address").inputValue()).toBe("nobody");
    await page.getByLabel("Email address").fill(email);
    await page.getByRole("button", { name: "Sign up" }).click();
    await sees("An email is on its way");
    await page.reload();
    await vi.waitUntil(async () => (await mailTo(email)) === 1, PATIENTLY);
    await context.close();
  });
});
