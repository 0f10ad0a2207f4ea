import { NonRetryableError } from "cloudflare:workflows";
import type { OrderRequest } from "./schemas.ts";

type Lines = OrderRequest["lines"];

/** The skus of these lines that nobody sells. */
export async function unknownSkus(db: D1Database, lines: Lines): Promise<string[]> {
  // One parameter, whatever the number of lines: D1 takes 100 of them in a statement.
  const { results } = await db
    .prepare(
      `SELECT value ->> '$.sku' AS sku FROM json_each(?1)
       WHERE sku NOT IN (SELECT products.sku FROM products)`,
    )
    .bind(JSON.stringify(lines))
    .all<{ sku: string }>();
  return results.map(({ sku }) => sku);
}

/** What these lines cost now. */
export async function priceOf(db: D1Database, lines: Lines): Promise<number> {
  const row = await db
    .prepare(
      `SELECT COUNT(*) AS found, SUM(cents * (value ->> '$.quantity')) AS cents
       FROM json_each(?1) JOIN products ON products.sku = value ->> '$.sku'`,
    )
    .bind(JSON.stringify(lines))
    .first<{ found: number; cents: number }>();
  if (row?.found !== lines.length) {
    throw new NonRetryableError("A product of this order is no longer sold.");
  }
  return row.cents;
}
