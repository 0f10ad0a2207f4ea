import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { closeReview } from "../../src/drafts.ts";
import { decide, draftInReview, linkTo, rowOf, send } from "./helpers.ts";

const FORM = "application/x-www-form-urlencoded";

// The instances of these drafts hear nothing, which the Worker says in its log.
let log: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => vi.restoreAllMocks());

/** The draft's text, out of the page's markup as a browser would read it. */
const shownOn = (html: string) =>
  (/<pre id="draft">\n([\s\S]*?)<\/pre>/.exec(html)?.[1] ?? "").replaceAll(/&#(\d+);/g, (_, code) =>
    String.fromCharCode(Number(code)),
  );

describe("the page", () => {
  test.each([
    "<script>globalThis.attacked = true</script><img src=x onerror=alert(1)>",
    "</pre></main><form action='https://evil.example'><button>Approve</button></form>",
    `"quotes" 'and' &amp; &#38; ampersands`,
    "\n\nline breaks\r\nof\rall kinds\n",
    "茶 🍵 e\u0301 \u202eright to left\u202c \u200b",
    "  spaces\tand tabs  ",
  ])("shows %j as text, byte for byte", async (text) => {
    const { text: html } = await send("GET", await linkTo(await draftInReview(text)));
    expect(shownOn(html)).toBe(text);
    // The page's own markup is all there is.
    expect(html.match(/<(?!\/)[a-z]+/g)).toEqual(
      (await send("GET", await linkTo(await draftInReview("plain")))).text.match(/<(?!\/)[a-z]+/g),
    );
    expect(html).not.toContain("\r");
  });

  test("says who wrote the text, and what its SHA-256 is", async () => {
    const draft = await draftInReview("Tea");
    const { text } = await send("GET", await linkTo(draft));
    expect(text).toContain("<strong>a model</strong>");
    expect(text).toContain((await rowOf(draft)).sha256);
  });

  test("has a form of two buttons that posts to its own address, and no script", async () => {
    const { text } = await send("GET", await linkTo(await draftInReview("Tea")));
    expect(text.match(/<form[^>]*>/g)).toEqual(['<form method="post">']);
    expect(text.match(/value="\w+"/g)).toEqual(['value="approve"', 'value="reject"']);
    expect(text).not.toMatch(/<script|\son\w+=|javascript:/i);
    expect(text).not.toContain("signature");
  });

  test.each([
    ["GET", 200],
    ["HEAD", 200],
  ])("%s keeps its address and its text to itself", async (method, status) => {
    const answer = await send(method, await linkTo(await draftInReview("Tea")));
    expect(answer.status).toBe(status);
    const { nonce } = /'nonce-(?<nonce>[^']+)'/.exec(
      answer.headers.get("content-security-policy") ?? "",
    )?.groups ?? { nonce: "" };
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/html; charset=UTF-8",
      "content-security-policy": `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  });

  test("the pages that refuse have the same headers", async () => {
    const draft = await draftInReview("Tea");
    const expired = await linkTo(draft, { expires: "1" });
    for (const link of ["/review/nope?expires=1&signature=0", expired]) {
      const { headers, text } = await send("GET", link);
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(text).not.toContain("<form");
    }
  });
});

describe("E8: only the form decides", () => {
  test.each(["GET", "HEAD"])("a mail scanner that sends %s changes nothing", async (method) => {
    const draft = await draftInReview("Tea");
    const before = await rowOf(draft);
    const link = await linkTo(draft);
    for (const url of [link, `${link}&decision=approve`]) {
      for (let nth = 1; nth <= 3; nth++) expect((await send(method, url)).status).toBe(200);
    }
    expect(await rowOf(draft)).toEqual(before);
  });

  test.each(["PUT", "PATCH", "DELETE", "OPTIONS"])("%s: 405", async (method) => {
    const draft = await draftInReview("Tea");
    const answer = await send(method, await linkTo(draft));
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, POST");
    expect((await rowOf(draft)).state).toBe("in review");
  });

  test.each([
    [415, '{"decision":"approve"}', "application/json"],
    [415, "decision=approve", "text/plain"],
    [415, "decision=approve", `${FORM}x`],
    [415, "decision=approve", ""],
    [400, "", FORM],
    [400, "decision=", FORM],
    [400, "decision=Approve", FORM],
    [400, "decision=approve&decision=reject", FORM],
    [400, "decision=approve&draftId=other", FORM],
    [400, "__proto__=approve", FORM],
    [400, "decision[]=approve", FORM],
    [413, `decision=approve&x=${"x".repeat(2000)}`, FORM],
  ])("%i for %j as %j", async (status, body, type) => {
    const draft = await draftInReview("Tea");
    const answer = await send("POST", await linkTo(draft), { body, type });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toContain("text/html");
    expect((await rowOf(draft)).state).toBe("in review");
  });

  test("a form with a charset is a form", async () => {
    const draft = await draftInReview("Tea");
    const answer = await send("POST", await linkTo(draft), {
      body: "decision=reject",
      type: `${FORM.toUpperCase()}; charset=UTF-8`,
    });
    expect(answer.status).toBe(200);
    expect((await rowOf(draft)).state).toBe("rejected");
  });
});

describe("one decision", () => {
  test("is taken of many at the same moment, and everybody else hears which", async () => {
    for (let round = 1; round <= 5; round++) {
      const draft = await draftInReview("Tea");
      const link = await linkTo(draft);
      const clicks = ["approve", "reject", "approve", "reject", "approve", "reject"];
      const answers = await Promise.all(clicks.map((decision) => decide(link, decision)));
      const first = answers.findIndex(({ status }) => status === 200);
      const state = clicks[first] === "approve" ? "approved" : "rejected";
      expect((await rowOf(draft)).state).toBe(state);
      for (const { status, text } of answers.toSpliced(first, 1)) {
        expect(status).toBe(410);
        expect(text).toContain(`The draft was ${state}`);
      }
    }
  });

  test("and the close at the same moment agree on one end", async () => {
    for (let round = 1; round <= 20; round++) {
      const draft = await draftInReview("Tea");
      const link = await linkTo(draft);
      const [answer, closed] = await Promise.all([
        decide(link, "approve"),
        closeReview(env.DB, draft.draftId),
      ]);
      const end = answer.status === 200 ? "approved" : "closed";
      expect([closed, (await rowOf(draft)).state]).toEqual([end, end]);
    }
  });

  test("counts although its event cannot be sent: the row has it", async () => {
    const draft = await draftInReview("Tea");
    expect((await decide(await linkTo(draft), "approve")).status).toBe(200);
    expect((await rowOf(draft)).state).toBe("approved");
    expect(log).toHaveBeenCalledWith(expect.objectContaining({ message: "the event was lost" }));
  });

  test("is not taken where the database is away, and the page says so", async () => {
    const link = await linkTo(await draftInReview("Tea"));
    const answer = await send("GET", link, { env: { DB: undefined } });
    expect(answer.status).toBe(500);
    expect(answer.text).toContain("Nothing was decided");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  });
});

test("the text in the row is what was given, in UTF-8", async () => {
  const text = "茶 🍵 \r\n \u0001 \ufeff";
  const draft = await draftInReview(text);
  const row = await env.DB.prepare("SELECT hex(text) AS hex FROM drafts WHERE draft_id = ?1")
    .bind(draft.draftId)
    .first<{ hex: string }>();
  const bytes = [...new TextEncoder().encode(text)];
  expect(row?.hex.toLowerCase()).toBe(
    bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(""),
  );
});
