export const utf8 = (text: string) => new TextEncoder().encode(text);

export const toHex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

export const fromHex = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

/** SHA-256 of a text in UTF-8, in hexadecimal. */
export const sha256 = async (text: string) =>
  toHex(await crypto.subtle.digest("SHA-256", utf8(text)));
