import { createInstancesOnce } from "@durable-lessons/idempotency";
import { WorkflowEntrypoint } from "cloudflare:workers";
import { consumeOrders } from "../src/consume-orders.ts";
import type { FulfilmentOrder } from "../src/schemas.ts";

interface BenchEnv {
  DB: D1Database;
  FULFILMENT: Workflow<FulfilmentOrder>;
  BATCH_1: Queue<FulfilmentOrder>;
  BATCH_10: Queue<FulfilmentOrder>;
  BATCH_100: Queue<FulfilmentOrder>;
}

/** What the platform was asked for. */
export interface Counts {
  consumerCalls: number;
  createCalls: number;
  created: number;
  statements: number;
}

export class EmptyWorkflow extends WorkflowEntrypoint<BenchEnv, FulfilmentOrder> {
  override run(): Promise<string> {
    return Promise.resolve("nothing to do");
  }
}

const none = (): Counts => ({ consumerCalls: 0, createCalls: 0, created: 0, statements: 0 });
const seen = new Map<string, Counts>();

const order = (orderId: string): FulfilmentOrder => ({
  orderId,
  card: "tok_visa",
  cents: 450,
  lines: [{ sku: "tea", quantity: 1 }],
});

/** The real bindings, with a look at each call. */
function counting(env: BenchEnv, counts: Counts) {
  const FULFILMENT = new Proxy(env.FULFILMENT, {
    get(target, name) {
      if (name === "create") {
        return async (options: WorkflowInstanceCreateOptions<FulfilmentOrder>) => {
          counts.createCalls += 1;
          const instance = await target.create(options);
          counts.created += 1;
          return instance;
        };
      }
      if (name === "createBatch") {
        return async (options: WorkflowBatchCreateOptions<FulfilmentOrder>) => {
          counts.createCalls += 1;
          const result = await target.createBatch(options);
          counts.created += result.created.length;
          return result;
        };
      }
      return Reflect.get(target, name);
    },
  });
  const DB = new Proxy(env.DB, {
    get(target, name) {
      if (name !== "prepare") return Reflect.get(target, name);
      return (sql: string) => {
        counts.statements += 1;
        return target.prepare(sql);
      };
    },
  });
  return { ...env, FULFILMENT, DB };
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const count = Number(searchParams.get("count"));
    const name = searchParams.get("name") ?? "";
    const size = searchParams.get("size") ?? "";
    const orders = Array.from({ length: count }, (_, nth) => order(`${name}-${nth}`));
    const counts = none();
    const { FULFILMENT } = counting(env, counts);
    switch (pathname) {
      case "/create":
        for (const params of orders) await FULFILMENT.create({ id: params.orderId, params });
        return Response.json(counts);
      case "/create-batch":
        await createInstancesOnce(
          FULFILMENT,
          orders.map((params) => ({ id: params.orderId, params })),
        );
        return Response.json(counts);
      case "/send": {
        const queues = new Map([
          ["1", env.BATCH_1],
          ["10", env.BATCH_10],
          ["100", env.BATCH_100],
        ]);
        await queues.get(size)?.sendBatch(orders.map((body) => ({ body })));
        return Response.json({});
      }
      case "/counts": {
        const current = seen.get(size) ?? none();
        if (searchParams.has("forget")) seen.delete(size);
        return Response.json(current);
      }
      default:
        return new Response(null, { status: 404 });
    }
  },

  async queue(batch, env) {
    const size = batch.queue.replace("batch-", "");
    const counts = seen.get(size) ?? none();
    seen.set(size, counts);
    counts.consumerCalls += 1;
    await consumeOrders(batch, counting(env, counts) as unknown as Env);
  },
} satisfies ExportedHandler<BenchEnv>;
