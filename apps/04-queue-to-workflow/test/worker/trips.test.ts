/** How often the lesson's code goes to D1: what docs/scale.md counts with. */
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { D1_TRIPS } from "../../bench/d1-trips.ts";
import { deliver, newOrder, send, untilState } from "./helpers.ts";

/** The database, which counts the trips to it. */
function countTrips() {
  const counted = { trips: 0 };
  const statements = new WeakMap<object, D1PreparedStatement>();
  const watched = (statement: D1PreparedStatement): D1PreparedStatement => {
    const proxy = new Proxy(statement, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name === "bind") return watched(target.bind(...args));
          counted.trips += 1;
          return value.apply(target, args);
        };
      },
    });
    statements.set(proxy, statement);
    return proxy;
  };
  const DB = new Proxy(env.DB, {
    get(target, name) {
      if (name === "prepare") return (sql: string) => watched(target.prepare(sql));
      if (name !== "batch") return Reflect.get(target, name);
      return (list: D1PreparedStatement[]) => {
        counted.trips += 1;
        return target.batch(list.map((statement) => statements.get(statement) ?? statement));
      };
    },
  });
  return { counted, workerEnv: { ...env, DB } };
}

test("a request makes as many trips to D1 as docs/scale.md says, and so do a look and a batch", async () => {
  const order = newOrder();
  const path = `/orders/${order.orderId}`;
  const tripsOf = async (work: (workerEnv: Env) => Promise<unknown>) => {
    const { counted, workerEnv } = countTrips();
    await work(workerEnv);
    return counted.trips;
  };
  const request = await tripsOf((workerEnv) => send("POST", "/orders", order, workerEnv));
  await untilState(order, "shipped");
  const look = await tripsOf((workerEnv) => send("GET", path, undefined, workerEnv));
  const batch = await tripsOf((workerEnv) => deliver([newOrder(), newOrder()], { workerEnv }));
  expect({ request, look, batch, result: 1 }).toEqual(D1_TRIPS);
});
