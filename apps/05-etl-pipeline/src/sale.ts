/** The columns of a file, in their order. */
export const COLUMNS = ["sale_id", "sold_at", "shop", "currency", "amount"];

/** How many digits a currency has after the point (ISO 4217). */
const MINOR_DIGITS: Record<string, number> = { EUR: 2, GBP: 2, JPY: 0, KWD: 3, USD: 2 };

/** Largest amount, without its sign. With it a day's sum stays a whole number that JavaScript can hold. */
const MAX_AMOUNT = 1_000_000;

const MAX_SHOP_LENGTH = 100;

/** A row that is in order. */
export interface Sale {
  id: string;
  at: string;
  shop: string;
  currency: string;
  /** In the currency's minor unit. */
  minor: number;
}

/** Reads the fields of a row, or says what is wrong with them. */
export function readSale(fields: readonly string[], day: string): Sale | string {
  if (fields.length !== COLUMNS.length) return `there must be ${COLUMNS.length} columns`;
  const [id = "", at = "", shop = "", currency = "", amount = ""] = fields;
  // What is not UTF-8 comes out of the decoder as this character.
  if (fields.some((field) => field.includes("\uFFFD"))) return "the text must be UTF-8";
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) return "sale_id must be 1 to 64 letters, digits, - or _";
  if (!isTime(at)) return "sold_at must be a time in UTC, such as 2026-11-28T09:30:00Z";
  if (!at.startsWith(day)) return "sold_at must be on the file's day";
  if (shop.trim() === "" || shop.length > MAX_SHOP_LENGTH || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(shop))
    return `shop must be 1 to ${MAX_SHOP_LENGTH} characters in one line, none of them a control character`;
  const digits = Object.hasOwn(MINOR_DIGITS, currency) ? MINOR_DIGITS[currency] : undefined;
  if (digits === undefined) return "currency must be one of the known ones";
  const minor = minorUnits(amount, digits);
  if (minor === null) return "amount must be a number with no more digits than its currency has";
  if (Math.abs(minor) > MAX_AMOUNT * 10 ** digits) return "amount must be at most 1,000,000";
  return { id, at, shop, currency, minor };
}

function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false;
  const time = Date.parse(text);
  // February 30 is read as March 2.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, -1));
}

/** The amount as a whole number, by its digits: 0.07 * 100 would be 7.000000000000001. */
function minorUnits(amount: string, digits: number): number | null {
  const [, sign, whole, fraction = ""] = /^(-?)(\d{1,12})(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === undefined || fraction.length > digits) return null;
  const minor = Number(whole + fraction.padEnd(digits, "0"));
  // Zero has no sign.
  return sign && minor !== 0 ? -minor : minor;
}
