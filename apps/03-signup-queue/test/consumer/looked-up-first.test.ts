/** The loop that articles show: look the id up, send, write it down; one message after the other. */
import { evidenceOf, outsideWorld } from "@durable-lessons/outside-world";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { newSignup } from "./helpers.ts";

const nothing = async () => undefined;

/** @param between happens after the look and before the mail, and again after the mail and before the note */
async function consume(ids: string[], between: () => Promise<unknown> = nothing) {
  for (const id of ids) {
    const done = await env.DB.prepare("SELECT id FROM mails_done WHERE id = ?1").bind(id).first();
    if (done) continue;
    await between();
    await outsideWorld(env, id).mail.send({ to: "ada@example.com", subject: "Welcome", text: "" });
    await between();
    await env.DB.prepare("INSERT INTO mails_done (id) VALUES (?1) ON CONFLICT DO NOTHING")
      .bind(id)
      .run();
  }
}

const mails = async (id: string) => (await evidenceOf(env.WORLD, id))["email.sent"];

describe("C12: ids that are looked up before the work and written down after it", () => {
  test("stop a second delivery within one loop, and one that comes later", async () => {
    const { id } = await newSignup();
    await consume([id, id]);
    await consume([id]);
    expect(await mails(id)).toBe(1);
  });

  test("stop nothing between two consumers at once: both look before either writes", async () => {
    const { id } = await newSignup();
    const looked = Promise.withResolvers<void>();
    let there = 0;
    const untilBothHaveLooked = async () => {
      there += 1;
      if (there === 2) looked.resolve();
      await looked.promise;
    };
    await Promise.all([consume([id], untilBothHaveLooked), consume([id], untilBothHaveLooked)]);
    expect(await mails(id)).toBe(2);
  });

  test("stop nothing where the consumer dies after the mail: its note is missing", async () => {
    const { id } = await newSignup();
    let calls = 0;
    const dieAfterTheMail = async () => {
      calls += 1;
      if (calls === 2) throw new Error("[simulated] the consumer is gone");
    };
    await expect(consume([id], dieAfterTheMail)).rejects.toThrow("the consumer is gone");
    await consume([id]);
    expect(await mails(id)).toBe(2);
  });
});
