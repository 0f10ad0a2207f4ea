import { fingerprintOf } from "@durable-lessons/idempotency";

/**
 * The idempotency key of a signup, from what it is: its purpose and the person. The same for every click, every redelivery and
 * every spelling that mail itself takes for the same. A hash, which keeps logs readable and hides nobody: who guesses the
 * address can make it too.
 */
export async function signupId(email: string): Promise<string> {
  return `welcome-${await fingerprintOf(canonicalAddress(email))}`;
}

/**
 * One spelling for all that are one mailbox by the rules of mail: the domain in any case, and in its own letters or in those
 * of DNS (`bücher.example`, `xn--bcher-kva.example`; UTS 46, as the runtime's `URL` does it); the part before it in either
 * Unicode form (RFC 6532). No more: which of its names a mail server takes for the same only that server knows (RFC 5321), and
 * who merges too much keeps the mail from the second person. It is for comparing; mail goes to the address as it was typed.
 *
 * @throws TypeError where the domain is none: `emailAddress` refuses it before
 */
export function canonicalAddress(email: string): string {
  const address = email.trim();
  const at = address.lastIndexOf("@");
  const { hostname } = new URL(`http://${address.slice(at + 1)}`);
  return `${address.slice(0, at).normalize("NFC")}@${hostname}`;
}
