import type { OrderRequest } from "./schemas.ts";

type Lines = OrderRequest["lines"];

/** What these lines cost now; and the skus among them that nobody sells. */
export async function priceOf(
  db: D1Database,
  lines: Lines,
): Promise<{ cents: number; unsold: string[] }> {
  // One parameter, whatever the number of lines: D1 takes 100 of them in a statement.
  const { results } = await db
    .prepare(
      `SELECT value ->> '$.sku' AS sku, cents * (value ->> '$.quantity') AS cents
       FROM json_each(?1) LEFT JOIN products ON products.sku = value ->> '$.sku'`,
    )
    .bind(JSON.stringify(lines))
    .all<{ sku: string; cents: number | null }>();
  return {
    cents: results.reduce((sum, { cents }) => sum + (cents ?? 0), 0),
    unsold: results.filter(({ cents }) => cents === null).map(({ sku }) => sku),
  };
}
