import { soak } from "@durable-lessons/test-kit/soak";
import { emailAddress } from "@durable-lessons/types/fields";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { canonicalAddress, signupId } from "../../src/signup-id.ts";

const withDomain = (email: string, spell: (domain: string) => string) => {
  const at = email.lastIndexOf("@");
  return email.slice(0, at + 1) + spell(email.slice(at + 1));
};

/** What mail itself takes for the same, whatever a person, a keyboard or a browser has made of it. */
const spellings: Record<string, (email: string) => string> = {
  "with a domain in capitals": (email) => withDomain(email, (domain) => domain.toUpperCase()),
  "with a domain as DNS writes it": (email) =>
    withDomain(email, (domain) => new URL(`http://${domain}`).hostname),
  "with spaces around it": (email) => ` \t${email}\u00A0\n`,
  "as NFC": (email) => email.normalize("NFC"),
  "as NFD": (email) => email.normalize("NFD"),
  canonical: canonicalAddress,
};

/** Above the alphabets of the first planes there is little but more of the same: `pnpm test` takes some of it. */
const [ALPHABETS, STEP] = [0x3000, soak(1, 31)];

/** An address with every character that there is before the @, and what each becomes. */
const everyAddress: [email: string, canonical: string][] = [];
for (let code = 0x21; code <= 0x10_ffff; code += code < ALPHABETS ? 1 : STEP) {
  const character = String.fromCodePoint(code);
  if ((code >= 0xd800 && code <= 0xdfff) || character === "@") continue;
  const email = `a${character}b@example.com`;
  everyAddress.push([email, canonicalAddress(email)]);
}

describe.each(Object.entries(spellings))("one person has one address %s", (_name, spell) => {
  test(`with ${soak("every character that there is", "any character")}`, () => {
    const different = everyAddress.filter(
      ([email, canonical]) => canonicalAddress(spell(email)) !== canonical,
    );
    expect(different).toEqual([]);
  });

  test("with any word of accented letters", () => {
    // Not "ß": its capitals are SS, another domain.
    const letter = fc.constantFrom(...Array.from("abzäéøñçÅŁőșžćůāαώΣδπЖйёїạệữ"));
    const word = fc.string({ unit: letter, minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(word, word, (name, domain) => {
        const email = `${name}@${domain}.example`;
        expect(canonicalAddress(spell(email))).toBe(canonicalAddress(email));
      }),
    );
  });
});

test("two people never share an id, however alike", async () => {
  const alike = [
    "ada@example.com",
    // Whether they are one mailbox only its server knows.
    "Ada@example.com",
    "a.da@example.com",
    "ada+tag@example.com",
    "ａda@example.com",
    "ada@example.org",
    "ada@mail.example.com",
    "adä@example.com",
    "ada1@example.com",
    "аda@example.com", // a Cyrillic а
    "x@straße.example",
    "x@strasse.example",
    "ﬁ@example.com", // one letter
    "fi@example.com",
  ];
  const ids = await Promise.all(alike.map(signupId));
  expect(new Set(ids).size).toBe(alike.length);
});

test("an address that is let in has an id, whatever its letters", async () => {
  const field = emailAddress("email");
  let taken = 0;
  const part = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(part, part, async (name, domain) => {
      const email = v.safeParse(field, `${name}@${domain}.example`);
      if (!email.success) return;
      taken += 1;
      expect(await signupId(email.output)).toMatch(/^welcome-/);
    }),
    { numRuns: soak(20_000, 2_000) },
  );
  expect(taken).toBeGreaterThan(0);
  // Letters of two alphabets in one label of DNS: the runtime makes no host of it.
  expect(v.is(field, "ada@xn--\u00fc.example")).toBe(false);
});

test("an id shows no address, and has the same length for all", async () => {
  await fc.assert(
    fc.asyncProperty(fc.emailAddress(), async (email) => {
      expect(await signupId(email)).toMatch(/^welcome-[0-9a-f]{64}$/);
    }),
  );
});
