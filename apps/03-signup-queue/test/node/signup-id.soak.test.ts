import { soak } from "@durable-lessons/test-kit/soak";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalAddress, signupId } from "../../src/signup-id.ts";

/** What a person, a keyboard or a browser may make of an address. */
const spellings: Record<string, (email: string) => string> = {
  "in capitals": (email) => email.toUpperCase(),
  "in small letters": (email) => email.toLowerCase(),
  "with spaces around it": (email) => ` \t${email}\u00A0\n`,
  "as NFC": (email) => email.normalize("NFC"),
  "as NFD": (email) => email.normalize("NFD"),
  "as NFKC": (email) => email.normalize("NFKC"),
  "as NFKD": (email) => email.normalize("NFKD"),
  canonical: canonicalAddress,
};

/** Above the alphabets of the first planes there is little but more of the same: `pnpm test` takes some of it. */
const [ALPHABETS, STEP] = [0x3000, soak(1, 31)];

/** An address with every character that there is, and what each becomes. */
const everyAddress: [email: string, canonical: string][] = [];
for (let code = 0x21; code <= 0x10_ffff; code += code < ALPHABETS ? 1 : STEP) {
  if (code >= 0xd800 && code <= 0xdfff) continue;
  const email = `a${String.fromCodePoint(code)}b@example.com`;
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
    const letter = fc.constantFrom(...Array.from("abzäéøñçßÅŁőșžćůāαώςΣδπЖйёїạệữ"));
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
    "a.da@example.com",
    "ada+tag@example.com",
    "ada@example.org",
    "ada@mail.example.com",
    "adä@example.com",
    "ada1@example.com",
    "аda@example.com", // a Cyrillic а
  ];
  const ids = await Promise.all(alike.map(signupId));
  expect(new Set(ids).size).toBe(alike.length);
});

test("an id shows no address, and has the same length for all", async () => {
  await fc.assert(
    fc.asyncProperty(fc.emailAddress(), async (email) => {
      expect(await signupId(email)).toMatch(/^welcome-[0-9a-f]{64}$/);
    }),
  );
});
