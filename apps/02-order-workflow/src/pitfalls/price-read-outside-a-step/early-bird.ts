/** The price of a product: less for whoever buys it first. */
export async function earlyBirdPrice(db: D1Database, product: string): Promise<number> {
  const row = await db
    .prepare("SELECT 1 FROM sales WHERE product = ?1 LIMIT 1")
    .bind(product)
    .first();
  return row ? 1100 : 900;
}

export async function recordSale(db: D1Database, product: string): Promise<void> {
  await db
    .prepare("INSERT INTO sales (product) VALUES (?1) ON CONFLICT DO NOTHING")
    .bind(product)
    .run();
}
