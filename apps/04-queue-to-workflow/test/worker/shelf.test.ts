import { instanceIdFor } from "@durable-lessons/idempotency";
import { evidenceOf, scriptFaults } from "@durable-lessons/outside-world";
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { DELIVERED } from "../../src/restock-workflow.ts";
import { operate, send } from "./helpers.ts";

const newSku = () => `tea/${crypto.randomUUID()}`;
const restock = (sku: string) => send("POST", `/products/${encodeURIComponent(sku)}/restock`);
const delivered = (sku: string) => operate(`/products/${encodeURIComponent(sku)}/delivered`);
const look = async (sku: string) =>
  (await send("GET", `/products/${encodeURIComponent(sku)}`)).body;
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
    expect(await delivered(sku)).toMatchObject({ status: 200, body: { instanceId: first } });
    expect((await untilOver(await env.RESTOCK.get(first ?? ""))).status).toBe("complete");
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
    await delivered(other);
    await untilOver(await env.RESTOCK.get(await runs(other, 1)));
    await (await env.RESTOCK.get(await runs(one, 1))).terminate();
  });

  const untilMailed = async (id: string) =>
    vi.waitUntil(async () => (await mails(id))["email.sent"] === 1, PATIENTLY);

  test("fifty askers at once, and fifty more while the truck is on its way: one mail, until it has come", async () => {
    const sku = newSku();
    const [first = "", second = ""] = await Promise.all([1, 2].map((nth) => runs(sku, nth)));
    const fifty = () => Promise.all(Array.from({ length: 50 }, () => restock(sku)));

    const answers = [...(await fifty())];
    await untilMailed(first);
    answers.push(...(await fifty()));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    for (const { body } of answers) expect(body.instanceId).toBe(first);
    expect(await look(sku)).toMatchObject({ state: "on its way", instanceId: first });
    await expect(env.RESTOCK.get(second)).rejects.toThrow("not_found");

    expect((await delivered(sku)).status).toBe(200);
    expect(await look(sku)).toMatchObject({ state: "none" });
    expect((await fifty()).filter(({ status }) => status === 202)).toHaveLength(1);
    await untilMailed(second);
    expect(await mails(first)).toEqual({ "email.sent": 1 });
    await delivered(sku);
  });

  test("that a truck has come is an operator's word, about a truck that is on its way", async () => {
    const sku = newSku();
    const path = `/products/${encodeURIComponent(sku)}/delivered`;
    expect((await send("POST", path, undefined, env, null)).status).toBe(401);
    expect((await delivered(sku)).status).toBe(409);
  });

  test("a restock that has failed stays so, its retention over or not, until an operator has settled it", async () => {
    const sku = newSku();
    const [first = "", second = ""] = await Promise.all([1, 2].map((nth) => runs(sku, nth)));
    // The supplier gets the mail, and nobody hears of it.
    await scriptFaults(env.WORLD, first, { "mail.send": ["hang-after-effect"] });
    await restock(sku);
    await untilMailed(first);
    await (await env.RESTOCK.get(first)).terminate();
    const refused = await restock(sku);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain("/delivered");
    expect(await look(sku)).toMatchObject({ state: "failed", reason: "Its run is terminated." });

    await (await env.RESTOCK.get(first)).delete();
    expect((await restock(sku)).status).toBe(409);
    expect(await look(sku)).toMatchObject({ state: "failed" });
    expect(await mails(first)).toEqual({ "email.sent": 1 });

    expect((await delivered(sku)).status).toBe(200);
    expect((await restock(sku)).body).toEqual({ instanceId: second, started: true });
    await delivered(sku);
  });

  test("a run that somebody has ended with the platform's own tools makes room for the next", async () => {
    const sku = newSku();
    await restock(sku);
    const first = await env.RESTOCK.get(await runs(sku, 1));
    await first.sendEvent({ type: DELIVERED, payload: null });
    await untilOver(first);
    expect((await restock(sku)).body).toEqual({ instanceId: await runs(sku, 2), started: true });
    await delivered(sku);
  });
});
