import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { unstable_readConfig } from "wrangler";
import { QUEUES } from "../../src/queues.ts";
import { MAX_ORDERS } from "../../src/schemas.ts";
import { lesson } from "./helpers.ts";

const config = unstable_readConfig({ config: join(lesson, "wrangler.jsonc") });

interface Queues {
  producers?: { queue: string }[];
  consumers?: {
    queue: string;
    dead_letter_queue?: string;
    max_batch_size?: number;
    max_concurrency?: number | null;
  }[];
}

describe("wrangler.jsonc", () => {
  const { producers = [], consumers = [] }: Queues = config.queues;
  const [orders, deadLetters] = consumers;

  test("spells the queues as src/queues.ts does", () => {
    expect(producers.map(({ queue }) => queue)).toEqual([QUEUES.orders]);
    expect(orders).toMatchObject({
      queue: QUEUES.orders,
      dead_letter_queue: QUEUES.ordersDeadLetters,
    });
    expect(deadLetters?.queue).toBe(QUEUES.ordersDeadLetters);
  });

  test("hands the consumer as many messages as one createBatch takes", () => {
    expect(orders?.max_batch_size).toBe(MAX_ORDERS);
  });

  test("limits what runs at once, in the consumer and in the Workflow", () => {
    expect(orders?.max_concurrency).toBe(2);
    const [fulfilment]: { concurrency?: { limit?: number } }[] = config.workflows;
    expect(fulfilment?.concurrency?.limit).toBe(500);
  });

  test("has logs on, and asks for the operator's token, which does not stand there", () => {
    expect(config.observability?.enabled).toBe(true);
    expect(config.secrets?.required).toEqual(["OPERATOR_TOKEN"]);
    expect(config.vars).not.toHaveProperty("OPERATOR_TOKEN");
  });

  test("pnpm run deploy migrates every database before it deploys", async () => {
    const { scripts } = JSON.parse(await readFile(join(lesson, "package.json"), "utf8"));
    const databases: { binding: string }[] = config.d1_databases;
    const migrations = databases.map(
      ({ binding }) => `wrangler d1 migrations apply ${binding} --remote`,
    );
    expect(scripts.deploy.split(" && ")).toEqual([...migrations, "wrangler deploy"]);
  });
});
