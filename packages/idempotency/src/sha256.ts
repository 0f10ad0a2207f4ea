/**
 * SHA-256 in hexadecimal, 64 characters.
 *
 * @param text well-formed Unicode: UTF-8 makes one and the same character of every lone surrogate
 */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
