import { fingerprintOf } from "@durable-lessons/idempotency";

/**
 * The idempotency key of a signup, from what it is: its purpose and the person. The same for every click, every
 * redelivery and every spelling of the address. A hash, so that no log shows the address; but whoever guesses an address can
 * hash it too, and see whether it is that one. So it is still data of that person.
 */
export async function signupId(email: string): Promise<string> {
  return `welcome-${await fingerprintOf(canonicalAddress(email))}`;
}

/**
 * One spelling for all that differ by case, surrounding space or Unicode form. It is for comparing; mail goes to the
 * address as it was typed.
 */
export function canonicalAddress(email: string): string {
  const folded = email
    .trim()
    .normalize("NFKC")
    // Down, up and down again: ß and SS, or the two small sigmas, are the same letters in another case.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase();
  return folded.normalize("NFKC");
}
