/**
 * The D1 database of a binding.
 *
 * @throws Error where the Worker has none of that name
 */
export function databaseOf(env: object, binding: string): D1Database {
  const db: unknown = Reflect.get(env, binding);
  if (typeof db !== "object" || db === null || !("prepare" in db)) {
    throw new Error(`The Worker has no D1 binding "${binding}".`);
  }
  return db as D1Database;
}
