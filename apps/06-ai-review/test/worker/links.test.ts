import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256, toHex, utf8 } from "../../src/bytes.ts";
import { isSigned, obstacleToLinks, reviewLink } from "../../src/review-link.ts";
import type { DraftRequest } from "../../src/schemas.ts";
import {
  decide,
  draftInReview,
  invitationTo,
  linkTo,
  newDraft,
  rowOf,
  send,
  sendJson,
} from "./helpers.ts";

// The instances of these drafts hear nothing, which the Worker says in its log.
beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => vi.restoreAllMocks());

const WORDS = "The draft’s own words";

/** What comes of a link, whatever one does with it. */
async function tried(draft: DraftRequest, link: string) {
  const answers = [await send("GET", link), await decide(link, "approve")];
  return {
    status: answers.map(({ status }) => status),
    told: answers.some(({ text }) => text.includes(WORDS)),
    state: (await rowOf(draft)).state,
  };
}
const refused = { status: [403, 403], told: false, state: "in review" };

const inReview = () => draftInReview(WORDS);

describe("E7: a signed link needs no login, and is good for", () => {
  test("its bearer: it shows the draft, and takes one decision", async () => {
    const draft = await inReview();
    const link = await linkTo(draft);
    // Not even the token that asks for drafts, which the helpers send by default.
    const stranger = { token: null };
    const page = await send("GET", link, stranger);
    expect(page.status).toBe(200);
    expect(page.text).toContain(WORDS);
    expect((await decide(link, "approve", stranger)).status).toBe(200);
    expect((await rowOf(draft)).state).toBe("approved");
  });

  test("nothing, once any one character of it is another", async () => {
    const draft = await inReview();
    const link = await linkTo(draft);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: "/review/".length, max: link.length - 1 }),
        fc.constantFrom(...Array.from("0123456789abcdefABCDEFxyz-_.~!*/?&=+ %")),
        async (index, character) => {
          const changed = link.slice(0, index) + character + link.slice(index + 1);
          if (changed === link) return;
          expect([403, 404]).toContain((await send("GET", changed)).status);
          expect([403, 404]).toContain((await decide(changed, "approve")).status);
        },
      ),
      { numRuns: 400 },
    );
    expect((await rowOf(draft)).state).toBe("in review");
  });

  test("nothing, with any single bit of its signature flipped", async () => {
    const invitation = await invitationTo(await inReview());
    const link = new URL(await reviewLink(env, invitation));
    const signature = link.searchParams.get("signature") ?? "";
    expect(await isSigned(env, invitation, signature)).toBe(true);
    for (let bit = 0; bit < 256; bit++) {
      const nibble = Math.floor(bit / 4);
      const flipped = (Number.parseInt(signature[nibble] ?? "", 16) ^ (1 << (bit % 4))).toString(
        16,
      );
      const changed = signature.slice(0, nibble) + flipped + signature.slice(nibble + 1);
      expect(await isSigned(env, invitation, changed), `bit ${bit}`).toBe(false);
    }
  });

  test("nothing, cut off anywhere", async () => {
    const draft = await inReview();
    const link = await linkTo(draft);
    for (let length = "/review/x".length; length < link.length; length++) {
      expect((await send("GET", link.slice(0, length))).status).toBe(403);
    }
    expect(await tried(draft, link.slice(0, -1))).toEqual(refused);
  });

  test.each([
    ["upper case", (link: string) => link.replace(/[0-9a-f]{64}$/, (hex) => hex.toUpperCase())],
    ["more of it", (link: string) => `${link}00`],
    ["a space", (link: string) => `${link}%20`],
    ["a zero before the date", (link: string) => link.replace("expires=", "expires=0")],
    ["another date", (link: string) => link.replace(/expires=\d+/, "expires=9999999999999")],
    ["a date that is none", (link: string) => link.replace(/expires=\d+/, "expires=NaN")],
    ["no date", (link: string) => link.replace(/expires=\d+&/, "")],
    ["no signature", (link: string) => link.replace(/&signature=.+/, "")],
    ["an empty signature", (link: string) => link.replace(/signature=.+/, "signature=")],
    ["a huge signature", (link: string) => link + "0".repeat(10_000)],
    ["all zeros", (link: string) => link.replace(/[0-9a-f]{64}$/, "0".repeat(64))],
    ["another one first", (link: string) => link.replace("?", `?signature=${"0".repeat(64)}&`)],
    ["SQL", (link: string) => link.replace("?", "'%20OR%201=1--?")],
  ])("nothing, with %s", async (_name, change) => {
    const draft = await inReview();
    expect(await tried(draft, change(await linkTo(draft)))).toEqual(refused);
  });
});

describe("a link that is genuine, but not for this", () => {
  test("draft is refused", async () => {
    const [mine, foreign] = [await inReview(), await inReview()];
    const link = await linkTo(mine);
    expect(await tried(foreign, link.replace(mine.draftId, foreign.draftId))).toEqual(refused);
    expect((await rowOf(mine)).state).toBe("in review");
  });

  test("reviewer is refused", async () => {
    const draft = await inReview();
    expect(await tried(draft, await linkTo(draft, { reviewer: "eve@example.com" }))).toEqual(
      refused,
    );
  });

  test("version of the text is refused", async () => {
    const draft = await inReview();
    expect(
      await tried(draft, await linkTo(draft, { sha256: await sha256("Other words") })),
    ).toEqual(refused);
  });

  test("purpose is refused", async () => {
    const draft = await inReview();
    const { draftId, sha256: hash, reviewer, expires } = await invitationTo(draft);
    const key = await crypto.subtle.importKey(
      "raw",
      utf8(env.REVIEW_LINK_KEY),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    );
    const signed = async (purpose: string) => {
      const bytes = utf8(JSON.stringify([purpose, draftId, hash, reviewer, expires]));
      const signature = toHex(await crypto.subtle.sign("HMAC", key, bytes));
      return `/review/${draftId}?expires=${expires}&signature=${signature}`;
    };
    expect(await signed("review a draft")).toBe(await linkTo(draft));
    expect(await tried(draft, await signed("delete a draft"))).toEqual(refused);
  });

  test("draft, since there is none, gets the same answer as a forged one", async () => {
    const forged = await send("GET", `/review/${(await inReview()).draftId}?expires=1&signature=0`);
    const link = await linkTo(await inReview(), { draftId: "no-such-draft" });
    const unknown = await send("GET", link);
    const same = ({ status, text }: typeof forged) =>
      `${status} ${text.replaceAll(/nonce="[^"]+"/g, "")}`;
    expect(same(unknown)).toBe(same(forged));
    expect(unknown.text).toContain("This link is not valid");
  });

  test("draft, which has no text yet, is refused", async () => {
    const draft = newDraft();
    await sendJson("/drafts", draft, { env: { DRAFTS: { create: async () => null } } });
    expect((await rowOf(draft)).state).toBe("received");
    const link = await linkTo(draft, { sha256: "", expires: String(Date.now() + 60_000) });
    expect((await send("GET", link)).status).toBe(410);
    expect((await decide(link, "approve")).status).toBe(410);
  });
});

describe("a link that is good no more says so with 410", () => {
  test("when it has expired", async () => {
    const draft = await inReview();
    const link = await linkTo(draft, { expires: String(Date.now() - 1) });
    expect(await tried(draft, link)).toEqual({ ...refused, status: [410, 410] });
    expect((await send("GET", link)).text).toContain("This link has expired");
  });

  test.each([
    ["approve", "The draft was approved"],
    ["reject", "The draft was rejected"],
  ])("when it was used to %s", async (decision, message) => {
    const draft = await inReview();
    const link = await linkTo(draft);
    expect((await decide(link, decision)).status).toBe(200);
    const { state, decided_at } = await rowOf(draft);
    for (const answer of [
      await send("GET", link),
      await decide(link, "approve"),
      await decide(link, "reject"),
      // Another link to the same draft, as the reminder has one.
      await decide(await linkTo(draft, { expires: String(Date.now() + 60_000) }), "approve"),
    ]) {
      expect(answer.status).toBe(410);
      expect(answer.text).toContain(message);
    }
    expect(await rowOf(draft)).toMatchObject({ state, decided_at });
  });

  test.each([
    ["closed", "Nobody decided in time"],
    ["withdrawn", "The draft was withdrawn"],
    ["published", "is published"],
  ])("when the draft is %s", async (state, message) => {
    const draft = await inReview();
    const link = await linkTo(draft);
    await env.DB.prepare("UPDATE drafts SET state = ?2 WHERE draft_id = ?1")
      .bind(draft.draftId, state)
      .run();
    for (const answer of [await send("GET", link), await decide(link, "approve")]) {
      expect(answer.status).toBe(410);
      expect(answer.text).toContain(message);
    }
    expect((await rowOf(draft)).state).toBe(state);
  });
});

describe("the key", () => {
  const [first, second] = ["1".repeat(32), "2".repeat(32)];
  const origin = { PUBLIC_ORIGIN: "https://review.example" };

  test("changes without a link being lost: the first one signs, each is good", async () => {
    const invitation = await invitationTo(await inReview());
    const signatureBy = async (keys: string) =>
      new URL(await reviewLink({ ...env, REVIEW_LINK_KEY: keys }, invitation)).searchParams.get(
        "signature",
      ) ?? "";
    const old = await signatureBy(first);
    const isGood = (keys: string, signature: string) =>
      isSigned({ ...env, REVIEW_LINK_KEY: keys }, invitation, signature);
    expect(await isGood(first, old)).toBe(true);
    expect(await isGood(`${second} ${first}`, old)).toBe(true);
    expect(await isGood(second, old)).toBe(false);
    expect(await signatureBy(`${second} ${first}`)).toBe(await signatureBy(second));
  });

  test.each([
    ["there is none", { REVIEW_LINK_KEY: undefined }, "wrangler secret put REVIEW_LINK_KEY"],
    ["it is empty", { REVIEW_LINK_KEY: "" }, "wrangler secret put REVIEW_LINK_KEY"],
    ["it is short", { REVIEW_LINK_KEY: "x".repeat(31) }, "32 characters or more"],
    [
      "links would lead to localhost",
      { REVIEW_LINK_KEY: first, PUBLIC_ORIGIN: "http://localhost:8706" },
      "Set PUBLIC_ORIGIN",
    ],
    ...["", "review.example", "review.example:443", "http://review.example", "https://"].map(
      (PUBLIC_ORIGIN): [string, Record<string, string>, string] => [
        `links would begin with "${PUBLIC_ORIGIN}"`,
        { REVIEW_LINK_KEY: first, PUBLIC_ORIGIN },
        "Set PUBLIC_ORIGIN",
      ],
    ),
  ])("503 for everything where %s", async (_name, vars, message) => {
    const production = { ...origin, ...vars };
    const draft = await inReview();
    const link = await linkTo(draft);
    for (const answer of [
      await send("GET", link, { env: production }),
      await sendJson("/drafts", newDraft(), { env: production }),
    ]) {
      expect(answer.status).toBe(503);
      expect(answer.text).toContain(message);
    }
    expect((await rowOf(draft)).state).toBe("in review");
  });

  test("that is another one is worth nothing", async () => {
    const link = await linkTo(await inReview());
    const answer = await send("GET", link, { env: { ...origin, REVIEW_LINK_KEY: first } });
    expect(answer.status).toBe(403);
  });

  test("signs links to this machine for requests from it, and from nowhere else", async () => {
    const here = { ...env, PUBLIC_ORIGIN: "http://localhost:8706" };
    for (const [url, isFine] of [
      ["http://localhost:8706/drafts", true],
      ["http://127.0.0.1:8706/drafts", true],
      ["https://lesson.example/drafts", false],
      ["https://localhost.lesson.example/drafts", false],
    ] as const) {
      expect(obstacleToLinks(here, url) === null, url).toBe(isFine);
    }
  });
});
