import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lessonsOf } from "../../.vitepress/lab/navigation.ts";
import { complaintsOf, overflowOf, seriousFindings, startChromium } from "./chromium.ts";

const docsDir = join(import.meta.dirname, "..", "..");
const BASE = "/some/path/";

let outDir: string;
let server: Server;
let url: string;
let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
  outDir = await mkdtemp(join(tmpdir(), "durable-lessons-site-"));
  const vitepress = join(
    createRequire(import.meta.url).resolve("vitepress/package.json"),
    "..",
    "bin",
    "vitepress.js",
  );
  await promisify(execFile)(process.execPath, [vitepress, "build", "--outDir", outDir], {
    cwd: docsDir,
    // As it is on a real build: vitest sets the variable for itself.
    env: { ...process.env, DOCS_BASE: BASE, NODE_ENV: "production" },
  });
  server = createServer((request, response) => {
    void fileFor(request.url ?? "/").then(async (found) => {
      // As hosts of static sites do.
      const answer = found ?? (await fileFor(`${BASE}404.html`));
      response.writeHead(found ? 200 : 404, { "content-type": answer?.type ?? "text/plain" });
      response.end(answer?.body);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("The server has no address.");
  url = `http://127.0.0.1:${address.port}${BASE.slice(0, -1)}`;
}, 180_000);
afterAll(async () => {
  await browser?.close();
  server?.close();
  if (outDir) await rm(outDir, { recursive: true });
});

const TYPES: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html",
  ".ico": "image/x-icon",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** What a plain host of files does, below the base only. */
async function fileFor(path: string) {
  const { pathname } = new URL(path, "http://localhost");
  if (!pathname.startsWith(BASE)) return null;
  const wanted = join(outDir, decodeURIComponent(pathname.slice(BASE.length)));
  for (const file of [wanted, `${wanted}.html`, join(wanted, "index.html")]) {
    const found = await stat(file).catch(() => null);
    if (found?.isFile()) {
      return {
        body: await readFile(file),
        type: TYPES[extname(file)] ?? "application/octet-stream",
      };
    }
  }
  return null;
}

async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  await page.goto(url + path, { waitUntil: "load" });
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

const LESSONS = lessonsOf(docsDir).map((id) => `/lessons/${id}`);
const PAGES = ["/", "/pairs", "/choosing", "/limits", "/deploy", "/claims", ...LESSONS];

describe("without JavaScript, from a sub-path", () => {
  test.each(LESSONS)(
    "%s can be read: text, both sides, recorded evidence, and how to run it",
    async (path) => {
      await using opened = await open(path, { javaScriptEnabled: false });
      const { page, complaints } = opened;
      const pairs = page.locator(".pair");
      expect(await pairs.count()).toBeGreaterThan(0);
      for (const pair of await pairs.all()) {
        expect(await pair.locator(".pair-code pre").count()).toBe(2);
        expect(await pair.locator(".pair-source").innerText()).toMatch(/^Recorded on /);
        expect(await pair.locator("[data-evidence]").count()).toBeGreaterThan(0);
        expect(await pair.locator("svg.timeline-chart").isVisible()).toBe(true);
        expect(await pair.getByRole("button").count()).toBe(
          await pair.locator("button.copy").count(),
        );
      }
      const first = pairs.first();
      await first.locator(".how-to-run summary").click();
      expect(await first.locator(".how-to-run pre").innerText()).toContain(
        "npx -y pnpm@12.21.0 dev",
      );
      expect(complaints).toEqual([]);
    },
  );

  test("the catalogue lists every pair", async () => {
    await using opened = await open("/pairs", { javaScriptEnabled: false });
    const shown = await opened.page.locator(".catalogue-list > li").count();
    expect(await opened.page.locator(".catalogue [role=status]").innerText()).toBe(
      `${shown} of ${shown} pairs`,
    );
  });
});

test("every link and every file of every page is there", async () => {
  const seen = new Set<string>();
  const missing: string[] = [];
  const waiting = PAGES.flatMap((page) => [page, `/zh-TW${page}`]).map((page) => url + page);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const page = new URL(next);
    page.hash = "";
    if (seen.has(page.href) || page.origin !== new URL(url).origin) continue;
    seen.add(page.href);
    const found = await fileFor(page.pathname);
    if (!found) missing.push(page.pathname);
    if (found?.type !== "text/html") continue;
    const html = found.body.toString("utf8");
    for (const [, target = ""] of html.matchAll(/(?:href|src)="([^"]+)"/g)) {
      // What a lesson's own Worker answers, once the reader has started it.
      if (target.startsWith("http://localhost:")) continue;
      waiting.push(new URL(target.replaceAll("&amp;", "&"), page).href);
    }
  }
  expect(missing).toEqual([]);
  expect(seen.size).toBeGreaterThan(2 * PAGES.length);
});

describe("in Chinese", () => {
  test.each(["/pairs", "/glossary", ...LESSONS])(
    "%s says in Chinese what only some readers hear",
    async (path) => {
      await using opened = await open(`/zh-TW${path}`);
      const { page, complaints } = opened;
      const labels = await page
        .locator("[aria-label], [title], [placeholder], nav > .visually-hidden, caption")
        .evaluateAll((elements) =>
          elements.map((element) => {
            const label = ["aria-label", "title", "placeholder"].find((name) =>
              element.hasAttribute(name),
            );
            return (label ? element.getAttribute(label) : element.textContent)?.trim() ?? "";
          }),
        );
      expect(labels.length).toBeGreaterThan(3);
      expect(
        labels.filter((label) => !/\p{Script=Han}/u.test(label) || /[:,]/.test(label)),
      ).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  test("a page that is not there says so", async () => {
    await using opened = await open("/zh-TW/nothing-here");
    const found = opened.page.locator(".NotFound");
    expect(await found.locator("h1").innerText()).toBe("找不到頁面");
    expect(await found.innerText()).not.toMatch(/[A-Za-z]/);
  });
});

test("with JavaScript a static page says how to run a pair, and asks nobody for it", async () => {
  await using opened = await open("/");
  const { page, complaints } = opened;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const pair = page.locator(".pair").first();
  await pair.locator(".how-to-run summary").click();
  await pair.getByText("This is a static copy of the site").waitFor();
  expect(asked.filter((address) => address.includes("__lab"))).toEqual([]);
  expect(complaints).toEqual([]);
});

// Every page once in each language: the two share everything but their words.
describe.each([
  ["light", 1440, PAGES],
  ["dark", 375, PAGES.map((page) => `/zh-TW${page}`)],
] as const)("%s, %d px wide", (colorScheme, width, pages) => {
  test.each(pages)("%s is legible for everybody", async (path) => {
    await using opened = await open(path, { colorScheme, viewport: { width, height: 800 } });
    const { page, complaints } = opened;
    await expect
      .poll(() => page.evaluate(() => document.documentElement.classList.contains("dark")))
      .toBe(colorScheme === "dark");
    expect(await overflowOf(page)).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
