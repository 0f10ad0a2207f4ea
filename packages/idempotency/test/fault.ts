/** The statements of this package, told apart by their SQL. */
export type Statement = "claim" | "renew" | "complete" | "release" | "other";

/**
 * What goes wrong with one statement on its way: it never reaches D1 (`lost`), or D1 does it and the answer is lost
 * (`unanswered`).
 */
export type Fault = "lost" | "unanswered";

/**
 * The same real D1 over a bad connection: `faultOf` says, each time a statement is sent, what goes wrong with it.
 */
export function overBadConnection(
  db: D1Database,
  faultOf: (statement: Statement) => Fault | undefined,
): D1Database {
  const wrap = (statement: D1PreparedStatement, name: Statement): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, property) {
        if (property === "bind") {
          return (...values: unknown[]) => wrap(target.bind(...values), name);
        }
        if (property === "all" || property === "run") {
          return async () => {
            const fault = faultOf(name);
            if (fault === "lost") throw new Error(`[simulated] ${name} did not reach D1`);
            const answer = await target[property]();
            if (fault === "unanswered") throw new Error(`[simulated] no answer to ${name}`);
            return answer;
          };
        }
        return Reflect.get(target, property);
      },
    });
  return new Proxy(db, {
    get(target, property) {
      if (property === "prepare") return (sql: string) => wrap(target.prepare(sql), nameOf(sql));
      return Reflect.get(target, property);
    },
  });
}

function nameOf(sql: string): Statement {
  const [, set = ""] = /^\s*UPDATE \S+ AS held SET\s+(\w+)/.exec(sql) ?? [];
  if (/^\s*INSERT/.test(sql) && sql.includes("'processing'")) return "claim";
  const byColumn: Record<string, Statement> = {
    lease_ms: "renew",
    state: "complete",
    owner: "release",
  };
  return byColumn[set] ?? "other";
}
