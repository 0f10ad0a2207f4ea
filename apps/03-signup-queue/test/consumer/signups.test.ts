import { callsOf, effectsOf, keptOf } from "@durable-lessons/outside-world";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { ALERTS } from "../../src/alert-operators.ts";
import { deliver, evidence, letterOf, newSignup, withoutDatabase } from "./helpers.ts";

describe("one mail per signup", () => {
  test("C5: a message delivered again sends nothing, and is acked", async () => {
    const signup = await newSignup();
    const first = await deliver([signup]);
    const again = await deliver([signup, signup], { attempts: 2 });
    expect(first.acked).toEqual(first.ids);
    expect(again.acked.toSorted()).toEqual(again.ids.toSorted());
    expect(await evidence(signup.id)).toEqual({ "email.sent": 1 });
    // The provider, which would not send again either, was not even asked.
    expect(await callsOf(env.WORLD, signup.id)).toHaveLength(1);
  });

  test("C12: ten deliveries at once send one mail, and none is lost", async () => {
    const signup = await newSignup({ "mail.send": [{ slowMs: 50 }] });
    const results = await Promise.all(Array.from({ length: 10 }, () => deliver([signup])));
    expect(await evidence(signup.id)).toEqual({ "email.sent": 1 });
    const settled = results.flatMap(({ acked, retried }) => [...acked, ...retried]);
    expect(settled.toSorted()).toEqual(results.flatMap(({ ids }) => ids).toSorted());
    // What met the first one at work was not acked: had that one failed, the mail would be lost.
    const later = await deliver([signup]);
    expect(later.acked).toEqual(later.ids);
    expect(await evidence(signup.id)).toEqual({ "email.sent": 1 });
    expect(await callsOf(env.WORLD, signup.id)).toHaveLength(1);
  });

  test.each(["fail", "fail-after-effect"] as const)(
    "C4: a mail that says %s is retried until it is out, once",
    async (fault) => {
      const [signup, neighbour] = await Promise.all([
        newSignup({ "mail.send": [fault, fault] }),
        newSignup(),
      ]);
      const first = await deliver([signup, neighbour]);
      expect(first.retried).toEqual([first.ids[0]]);
      expect(first.acked).toEqual([first.ids[1]]);
      const second = await deliver([signup], { attempts: 2 });
      expect(second.retried).toEqual(second.ids);
      const third = await deliver([signup], { attempts: 3 });
      expect(third.acked).toEqual(third.ids);
      expect(await evidence(signup.id)).toEqual({ "email.sent": 1 });
      expect(await evidence(neighbour.id)).toEqual({ "email.sent": 1 });
    },
  );

  test("a second spelling after a mail whose mark is missing sends nothing and is no failure", async () => {
    const signup = await newSignup();
    await deliver([signup]);
    await env.DB.prepare("DELETE FROM idempotency_keys WHERE key = ?1").bind(signup.id).run();
    const again = await deliver([{ ...signup, email: signup.email.toUpperCase(), name: "Ada" }]);
    expect(again.acked).toEqual(again.ids);
    expect(await evidence(signup.id)).toEqual({ "email.sent": 1 });
  });

  test("the mail goes to the address as it was typed, and greets by name", async () => {
    const signup = { ...(await newSignup()), email: "Jürgen@Example.com", name: "Jürgen 🦊" };
    await deliver([signup]);
    const [mail] = await effectsOf(env.WORLD, signup.id);
    expect(mail?.detail).toEqual(
      await keptOf(signup.id, {
        to: "Jürgen@Example.com",
        subject: "Welcome",
        text: "Hello Jürgen 🦊, good to have you.",
      }),
    );
  });

  test("nothing is lost while D1 is away", async () => {
    const signup = await newSignup();
    const { ids, retried } = await deliver([signup, null], { env: withoutDatabase });
    expect(retried.toSorted()).toEqual(ids.toSorted());
    expect(await evidence(signup.id)).toEqual({});
  });
});

describe("bodies that no retry can help", () => {
  test("are parked with their reason, and the good ones among them are served once", async () => {
    const good = await Promise.all([newSignup(), newSignup(), newSignup()]);
    const bad: [unknown, string][] = [
      [null, "object"],
      ["text", "object"],
      [[], "object"],
      [{}, "id is missing"],
      [{ email: null }, "email must be text"],
      [{ id: "welcome-1", email: "nobody" }, "email address"],
      [{ ...good[0], extra: 1 }, "extra is not a known field"],
      [7, "object"],
    ];
    const bodies = [good[0], ...bad.map(([body]) => body), good[1], good[0], good[2]];
    const { ids, acked, retried } = await deliver(bodies);
    expect(retried).toEqual([]);
    expect(acked.toSorted()).toEqual(ids.toSorted());
    for (const { id } of good) expect(await evidence(id)).toEqual({ "email.sent": 1 });
    for (const [nth, [body, reason]] of bad.entries()) {
      const id = ids[nth + 1] ?? "";
      expect(await letterOf(id)).toMatchObject({
        body: JSON.stringify(body),
        reason: expect.stringContaining(reason),
        attempts: 1,
      });
      expect(await letterOf(id)).toHaveProperty("alerted_at", expect.any(Number));
    }
    // One for all of them.
    expect(await evidence(ALERTS)).toEqual({ "alert.sent": 1 });
  });

  test("of a kind that JSON does not have are parked too", async () => {
    const { ids, acked } = await deliver([undefined, 10n, new Map([[1, 2]]), new ArrayBuffer(3)]);
    expect(acked.toSorted()).toEqual(ids.toSorted());
    for (const id of ids) expect(await letterOf(id)).toMatchObject({ body: expect.any(String) });
  });

  test("are retried as long as they cannot be parked, and parked once", async () => {
    const ids = [crypto.randomUUID()];
    const lost = await deliver([{}], { ids, env: withoutDatabase });
    expect(lost.retried).toEqual(ids);
    const first = await deliver([{}], { ids, attempts: 2 });
    const again = await deliver([{}], { ids, attempts: 3 });
    expect([first.acked, again.acked]).toEqual([ids, ids]);
    expect(await letterOf(ids[0] ?? "")).toMatchObject({ attempts: 2 });
  });
});
