import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { PATIENTLY } from "@durable-lessons/test-kit";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createTestHarness, unstable_readConfig } from "wrangler";
import { type Invitation, reviewLink } from "../../src/review-link.ts";
import { clientOf, lesson as folder, newDraft, SECRETS } from "../node/helpers.ts";

const CHROMIUM = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
const PHONE = { width: 360, height: 740 };
const AWKWARD = `<script>document.title = "attacked"</script>\r\n\n  two  spaces\t茶 🍵 &amp; "quotes" </pre>\r`;

const config = unstable_readConfig({ config: `${folder}/wrangler.jsonc` });
const harness = createTestHarness({
  root: folder,
  workers: [{ configPath: "wrangler.jsonc", secrets: SECRETS }],
});
const lesson = clientOf({
  env: () => harness.getWorker().getEnv(),
  fetch: async (path, init) => {
    const { status, headers, body } = await harness.fetch(path, init);
    return new Response(body as ReadableStream | null, { status, headers: [...headers] });
  },
});

let origin: URL;
let browser: Browser;
beforeAll(async () => {
  if (!existsSync(CHROMIUM)) {
    throw new Error(
      `There is no browser at ${CHROMIUM}. Install one (apt-get install -y chromium), or set CHROMIUM_PATH.`,
    );
  }
  process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
  process.env["WRANGLER_LOG"] ??= "error";
  const { url } = await harness.listen();
  origin = new URL(url);
  for (const { binding } of config.d1_databases) {
    await harness.getWorker().applyD1Migrations(binding);
  }
  browser = await chromium.launch({
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
  });
});
afterAll(async () => {
  await browser?.close();
  await harness.close();
});

let page: Page;
/** What the page complained of: a policy that was broken, something that did not load. */
let complaints: string[];
beforeEach(async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: PHONE });
  page = await context.newPage();
  complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", ({ message }) => complaints.push(message));
  return () => context.close();
});

const open = (link: string) => page.goto(new URL(link, origin).href);
const heading = () => page.getByRole("heading").innerText();
const press = async (name: string) => {
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === "POST"),
    page.getByRole("button", { name }).click(),
  ]);
  await page.waitForLoadState();
  return answer.status();
};
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** A draft whose mail has been sent, and the link in that mail. */
async function mailed(prompt = "Why is tea green?") {
  const draft = await lesson.request({}, newDraft({ prompt }));
  return { ...draft, link: await lesson.mailedLink(draft.draftId) };
}

/** A link that the lesson's own key has signed. */
async function signed(draftId: string, fields: Partial<Invitation>) {
  const { sha256: hash } = await lesson.row(draftId);
  const invitation = { draftId, sha256: hash ?? "", reviewer: "bob@example.com", expires: "0" };
  const vars = config.vars as Parameters<typeof reviewLink>[0];
  const { pathname, search } = new URL(
    await reviewLink({ ...vars, ...SECRETS }, { ...invitation, ...fields }),
  );
  return pathname + search;
}

describe("on a phone, without JavaScript", () => {
  test("the reviewer reads the draft, approves it, and exactly that is published", async () => {
    const { draftId, link } = await mailed(AWKWARD);
    await open(link);
    expect(await heading()).toBe(`Review of draft ${draftId}`);
    const shown = (await page.locator("#draft").textContent()) ?? "";
    const { text, sha256: stored } = await lesson.row(draftId);
    expect(shown).toBe(text);
    expect(shown).toContain(AWKWARD);
    expect(sha256(shown)).toBe(stored);
    expect(await page.getByRole("main").innerText()).toContain(`SHA-256 of the text: ${stored}`);
    expect(await page.title()).not.toBe("attacked");
    expect(complaints).toEqual([]);

    expect(await press("Approve and publish")).toBe(200);
    expect(await heading()).toBe("Approved");
    await lesson.untilRow(draftId, ({ state }) => state === "published");
    const article = await fetch(new URL(`/articles/${draftId}`, origin));
    expect(sha256(await article.bytes())).toBe(sha256(shown));
  });

  test("the reviewer rejects it, and nothing is published", async () => {
    const { draftId, link } = await mailed();
    await open(link);
    expect(await press("Reject")).toBe(200);
    expect(await heading()).toBe("Rejected");
    expect((await lesson.row(draftId)).state).toBe("rejected");
    expect(await lesson.article(draftId)).toBeNull();
  });

  test("the keyboard is enough", async () => {
    const { draftId, link } = await mailed();
    await open(link);
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").innerText()).toBe("Approve and publish");
    await page.keyboard.press("Enter");
    await vi.waitFor(async () => expect(await heading()).toBe("Approved"), PATIENTLY);
    await lesson.untilRow(draftId, ({ state }) => state === "published");
  });

  test("opening and reloading the page decides nothing, and tells nobody where it was", async () => {
    const { draftId, link } = await mailed();
    const answer = await open(link);
    await page.reload();
    expect((await lesson.row(draftId)).state).toBe("in review");
    expect(answer?.headers()).toMatchObject({
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
  });

  test("of two open pages the second click hears what the first one decided", async () => {
    const { draftId, link } = await mailed();
    await open(link);
    const other = await page.context().newPage();
    await other.goto(new URL(link, origin).href);
    await other.getByRole("button", { name: "Reject" }).click();
    await other.getByText("will not be published").waitFor();
    expect(await press("Approve and publish")).toBe(410);
    expect(await heading()).toBe("Already decided");
    expect(await page.getByRole("main").innerText()).toContain("The draft was rejected.");
    expect((await lesson.row(draftId)).state).toBe("rejected");
  });

  const refusals: [string, number, string, () => Promise<string>][] = [
    [
      "forged",
      403,
      "This link is not valid",
      async () => (await mailed()).link.replace(/.{64}$/, "0".repeat(64)),
    ],
    [
      "foreign",
      403,
      "This link is not valid",
      async () => {
        const [mine, other] = [await mailed(), await mailed()];
        return other.link.replace(other.draftId, mine.draftId);
      },
    ],
    [
      "foreign: of another reviewer",
      403,
      "This link is not valid",
      async () => signed((await mailed()).draftId, { reviewer: "eve@example.com" }),
    ],
    ["cut off", 403, "This link is not valid", async () => (await mailed()).link.slice(0, -10)],
    [
      "expired",
      410,
      "This link has expired",
      async () => signed((await mailed()).draftId, { expires: "1" }),
    ],
    [
      "used",
      410,
      "Already decided",
      async () => {
        const { link } = await mailed();
        expect(await lesson.decide(link, "reject")).toBe(200);
        return link;
      },
    ],
  ];
  test.each(refusals)("a link that is %s: %i, a clear page and no buttons", async (...refusal) => {
    const [, status, title, linkOf] = refusal;
    const answer = await open(await linkOf());
    expect(answer?.status()).toBe(status);
    expect(await heading()).toBe(title);
    expect((await page.getByRole("paragraph").innerText()).length).toBeGreaterThan(20);
    expect(await page.getByRole("button").count()).toBe(0);
  });
});

describe("for everybody", () => {
  const pages: [string, () => Promise<string>][] = [
    ["the draft", async () => (await mailed(`${"Wide".repeat(100)} ${AWKWARD}`)).link],
    ["a refusal", async () => "/review/nope?expires=1&signature=0"],
  ];
  test.each(pages)(
    "%s fits a phone, in light and dark, and axe finds nothing",
    async (...shown) => {
      for (const colorScheme of ["light", "dark"] as const) {
        // The policy lets no script run, axe included: only here it is passed by.
        const context = await browser.newContext({ viewport: PHONE, colorScheme, bypassCSP: true });
        try {
          const scripted = await context.newPage();
          await scripted.goto(new URL(await shown[1](), origin).href);
          expect(
            await scripted.evaluate(
              "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            ),
          ).toBe(0);
          await scripted.evaluate(axe.source);
          const { violations } = await scripted.evaluate(() =>
            (globalThis as unknown as { axe: typeof axe }).axe.run(),
          );
          expect(violations.map(({ id }) => id)).toEqual([]);
        } finally {
          await context.close();
        }
      }
    },
  );

  test("a page with JavaScript runs nothing of the draft either", async () => {
    const context = await browser.newContext();
    try {
      const scripted = await context.newPage();
      await scripted.goto(new URL((await mailed(AWKWARD)).link, origin).href);
      expect(await scripted.title()).toMatch(/^Review of draft /);
    } finally {
      await context.close();
    }
  });
});
