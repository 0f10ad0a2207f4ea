import { instanceIdFor } from "@durable-lessons/idempotency";
import { evidenceOf, scriptFaults } from "@durable-lessons/outside-world";
import { untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { send } from "./helpers.ts";

const newSku = () => `tea/${crypto.randomUUID()}`;
const restock = (sku: string) => send("POST", `/products/${encodeURIComponent(sku)}/restock`);
const runs = (sku: string, nth: number) => instanceIdFor("restock", sku, nth);
const mails = (id: string) => evidenceOf(env.WORLD, id);

describe("a Durable Object that starts one run per key", () => {
  test("B35: starts a run, and no second one while the first is under way", async () => {
    const sku = newSku();
    const id = await runs(sku, 1);
    // The mail hangs, so the run stays under way.
    await scriptFaults(env.WORLD, id, { "mail.send": ["hang"] });
    expect(await restock(sku)).toMatchObject({
      status: 202,
      body: { instanceId: id, started: true },
    });
    const answers = await Promise.all([restock(sku), restock(sku), restock(sku)]);
    for (const { status, body } of answers) {
      expect({ status, body }).toEqual({ status: 200, body: { instanceId: id, started: false } });
    }
    await expect(env.RESTOCK.get(await runs(sku, 2))).rejects.toThrow("not_found");
    await (await env.RESTOCK.get(id)).terminate();
  });

  test("starts the next run once the last one is over, one for many askers", async () => {
    const sku = newSku();
    await restock(sku);
    const [first, second, third] = await Promise.all([1, 2, 3].map((nth) => runs(sku, nth)));
    await untilOver(await env.RESTOCK.get(first ?? ""));
    await scriptFaults(env.WORLD, second ?? "", { "mail.send": ["hang"] });

    const answers = await Promise.all(Array.from({ length: 5 }, () => restock(sku)));
    for (const { body } of answers) expect(body.instanceId).toBe(second);
    await expect(env.RESTOCK.get(third ?? "")).rejects.toThrow("not_found");
    expect(await mails(first ?? "")).toEqual({ "email.sent": 1 });
    await (await env.RESTOCK.get(second ?? "")).terminate();
  });

  test("two products do not wait for each other", async () => {
    const [one, other] = [newSku(), newSku()];
    await scriptFaults(env.WORLD, await runs(one, 1), { "mail.send": ["hang"] });
    await restock(one);
    expect((await restock(other)).body.started).toBe(true);
    await untilOver(await env.RESTOCK.get(await runs(other, 1)));
    await (await env.RESTOCK.get(await runs(one, 1))).terminate();
  });
});
