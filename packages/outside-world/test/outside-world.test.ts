import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import {
  callsOf,
  effectsOf,
  evidenceByRun,
  evidenceOf,
  type FaultScript,
  fingerprintOf,
  forgetHangs,
  hangingCalls,
  hangsByRun,
  meetFault,
  observationsOf,
  observe,
  openRun,
  outsideWorld,
  readRun,
  recordRun,
  scriptFaults,
  scriptManyRuns,
  sweepWorld,
} from "../src/index.ts";

const WORLD = env.WORLD;
const mail = { to: "ada@example.com", subject: "Welcome", text: "Hello" };
const charge = { orderId: "o-1", card: "4242", cents: 1200 };
const prompt = [
  { role: "system", content: "Write." },
  { role: "user", content: "Tea, <b> and 茶" },
];

/** Conditions come true in milliseconds; on a busy machine, later. */
const PATIENTLY = { timeout: 20_000 };

async function newWorld(faults?: FaultScript) {
  const run = crypto.randomUUID();
  await openRun(WORLD, run, { faults });
  return { run, world: outsideWorld({ WORLD }, run) };
}

const evidence = (run: string) => evidenceOf(WORLD, run);

describe("effects", () => {
  test("every provider leaves an effect of its own kind", async () => {
    const { run, world } = await newWorld();
    await world.accounts.open({ userId: "u-1" });
    await world.alerts.send(mail);
    await world.audit.log({ line: "opened" });
    await world.carrier.ship({ orderId: "o-1" });
    await world.mail.send(mail);
    await world.payments.charge(charge);
    await world.payments.refund({ chargeId: "c-1", cents: 1200 });
    await world.stock.reserve({ orderId: "o-1", lines: [{ sku: "tea", quantity: 2 }] });
    await world.stock.release({ orderId: "o-1" });
    expect(await evidence(run)).toEqual({
      "account.opened": 1,
      "alert.sent": 1,
      "audit.logged": 1,
      "card.charged": 1,
      "card.refunded": 1,
      "email.sent": 1,
      "parcel.shipped": 1,
      "stock.released": 1,
      "stock.reserved": 1,
    });
  });

  test("a parcel can be recalled, once per key", async () => {
    const { run, world } = await newWorld();
    const { recallId } = await world.carrier.recall({ orderId: "o-1", key: "k" });
    expect(await world.carrier.recall({ orderId: "o-1", key: "k" })).toEqual({ recallId });
    expect(await evidence(run)).toEqual({ "parcel.recalled": 1 });
  });

  test("a reminder, a model call and an article leave effects of their own kinds", async () => {
    const { run, world } = await newWorld();
    await world.mail.remind(mail);
    await world.model.run("a-model", { messages: prompt });
    await world.site.publish({ articleId: "a-1", text: "Tea" });
    expect(await evidence(run)).toEqual({
      "article.published": 1,
      "model.called": 1,
      "reminder.sent": 1,
    });
  });

  test("a source counts its reads, and gives as many bytes as it is asked for", async () => {
    const { run, world } = await newWorld();
    const { text } = await world.source.read({ file: "a.csv", bytes: 12 });
    await world.warehouse.load({ file: "a.csv", rows: 3 });
    expect(text).toBe("sale\nsale\nsa");
    expect(await evidence(run)).toEqual({ "rows.loaded": 1, "source.read": 1 });
  });

  test("a charge is found by its key, also where its answer was lost, and nothing else is", async () => {
    const { run, world } = await newWorld({ "payments.charge": ["fail-after-effect"] });
    await expect(world.payments.charge({ ...charge, key: "k" })).rejects.toThrow("[simulated]");
    const receipt = await world.payments.charge({ ...charge, key: "k" });
    expect(await world.payments.find({ key: "k" })).toEqual(receipt);
    expect(await world.payments.find({ key: "other" })).toBeNull();
    expect(await evidence(run)).toEqual({ "card.charged": 1 });
  });

  test("a parcel is found by its key, also where the answer was lost, and nothing else is", async () => {
    const { run, world } = await newWorld({ "carrier.ship": ["fail-after-effect"] });
    const parcel = { orderId: "o-1", key: "k" };
    await expect(world.carrier.ship(parcel)).rejects.toThrow("[simulated]");
    expect(await world.carrier.find({ key: "k" })).toEqual(await world.carrier.ship(parcel));
    expect(await world.carrier.find({ key: "other" })).toBeNull();
    expect(await evidence(run)).toEqual({ "parcel.shipped": 1 });
  });

  test("an effect keeps what it was about, and fingerprints of the rest, without the key", async () => {
    const { run, world } = await newWorld();
    await world.mail.send({ ...mail, key: "k" });
    expect(await effectsOf(WORLD, run)).toEqual([
      {
        id: expect.stringMatching(/^email_sent_\d+$/),
        kind: "email.sent",
        key: "k",
        detail: {
          to: await fingerprintOf(run, mail.to),
          subject: "Welcome",
          text: await fingerprintOf(run, mail.text),
        },
        names: [],
        at: expect.any(Number),
      },
    ]);
  });

  test("the ledger has no address, text, link, prompt, log line or card in any of its tables", async () => {
    const secrets = [
      "ada@example.com",
      "https://lesson.example/review?signature=abc",
      "tok_visa_4242",
      "Ada Lovelace",
    ];
    const [to = "", link = "", card = "", name = ""] = secrets;
    const { run, world } = await newWorld({ "mail.send": ["fail", "fail-after-effect"] });
    const letter = { to, subject: "Please review", text: `Dear ${name}: ${link}` };
    await expect(world.mail.send({ ...letter, key: "k" })).rejects.toThrow("[simulated]");
    await expect(world.mail.send({ ...letter, key: "k" })).rejects.toThrow("[simulated]");
    await world.mail.remind(letter);
    await world.alerts.send(letter);
    await world.audit.log({ line: `${name} has read ${link}` });
    await world.payments.charge({ orderId: "o-1", card, cents: 1200 });
    await world.model.run("a-model", { messages: [{ role: "user", content: `For ${name}` }] });
    await world.site.publish({ articleId: "a-1", text: `By ${name}` });
    const rows = [];
    for (const table of ["runs", "calls", "effects", "observations"]) {
      const { results } = await WORLD.prepare(`SELECT * FROM ${table} WHERE run = ?1`)
        .bind(run)
        .all();
      rows.push(...results);
    }
    const kept = JSON.stringify(rows);
    expect(kept).toContain('"orderId');
    for (const secret of secrets) expect(kept).not.toContain(secret);
  });

  test("a fingerprint is another one in another run, and for another value", async () => {
    const prints = await Promise.all([
      fingerprintOf("run-1", "ada@example.com"),
      fingerprintOf("run-2", "ada@example.com"),
      fingerprintOf("run-1", "bob@example.com"),
    ]);
    expect(new Set(prints).size).toBe(3);
    expect(await fingerprintOf("run-1", "ada@example.com")).toBe(prints[0]);
    for (const print of prints) expect(print).toMatch(/^sha256:[0-9a-f]{32}$/);
  });

  test("an effect has the names that occurred in what was asked for", async () => {
    const run = crypto.randomUUID();
    await openRun(WORLD, run, { names: ["ada@", "eve@", "Hel"] });
    await outsideWorld({ WORLD }, run).mail.send(mail);
    await outsideWorld({ WORLD }, run).carrier.ship({ orderId: "o-1" });
    expect((await effectsOf(WORLD, run)).map(({ names }) => names)).toEqual([["ada@", "Hel"], []]);
  });

  test("runs do not see each other", async () => {
    const one = await newWorld({ "mail.send": ["fail"] });
    const two = await newWorld();
    await two.world.mail.send(mail);
    await expect(one.world.mail.send(mail)).rejects.toThrow("[simulated]");
    expect(await evidence(one.run)).toEqual({});
    expect(await evidence(two.run)).toEqual({ "email.sent": 1 });
  });

  test("a run that nobody opened has no faults", async () => {
    const run = crypto.randomUUID();
    await outsideWorld({ WORLD }, run).mail.send(mail);
    expect(await evidence(run)).toEqual({ "email.sent": 1 });
  });
});

describe("idempotency keys", () => {
  test("without a key every request has its effect", async () => {
    const { run, world } = await newWorld();
    await world.mail.send(mail);
    await world.mail.send(mail);
    expect(await evidence(run)).toEqual({ "email.sent": 2 });
  });

  test("the same key gives the first receipt and no second effect, also at the same moment", async () => {
    const { run, world } = await newWorld();
    const request = { ...charge, key: "k" };
    const receipts = await Promise.all(
      Array.from({ length: 8 }, () => world.payments.charge(request)),
    );
    expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
    expect(await evidence(run)).toEqual({ "card.charged": 1 });
  });

  test("another key is another effect", async () => {
    const { run, world } = await newWorld();
    await world.mail.send({ ...mail, key: "a" });
    await world.mail.send({ ...mail, key: "b" });
    expect(await evidence(run)).toEqual({ "email.sent": 2 });
  });

  test("the same key for another amount, or another operation, is refused", async () => {
    const { run, world } = await newWorld();
    await world.payments.charge({ ...charge, key: "k" });
    await expect(world.payments.charge({ ...charge, cents: 1, key: "k" })).rejects.toMatchObject({
      code: "idempotency_key_reused",
    });
    await expect(world.payments.charge({ ...charge, card: "9", key: "k" })).rejects.toThrow(
      "idempotency_key_reused",
    );
    await expect(world.mail.send({ ...mail, key: "k" })).rejects.toThrow("idempotency_key_reused");
    expect(await evidence(run)).toEqual({ "card.charged": 1 });
  });

  test("a decline is remembered with its key", async () => {
    const { run, world } = await newWorld({ "payments.charge": ["decline"] });
    const first = await world.payments.charge({ ...charge, key: "k" });
    const second = await world.payments.charge({ ...charge, key: "k" });
    expect(first).toMatchObject({ status: "declined" });
    expect(second).toEqual(first);
    expect(await evidence(run)).toEqual({ "card.declined": 1 });
  });

  test("a failure before the effect leaves the key free", async () => {
    const { run, world } = await newWorld({ "mail.send": ["fail"] });
    await expect(world.mail.send({ ...mail, key: "k" })).rejects.toThrow("unavailable");
    await world.mail.send({ ...mail, key: "k" });
    expect(await evidence(run)).toEqual({ "email.sent": 1 });
  });

  test("a failure after the effect is healed by the key", async () => {
    const { run, world } = await newWorld({ "mail.send": ["fail-after-effect"] });
    await expect(world.mail.send({ ...mail, key: "k" })).rejects.toThrow("connection_reset");
    await world.mail.send({ ...mail, key: "k" });
    expect(await evidence(run)).toEqual({ "email.sent": 1 });
  });
});

describe("faults", () => {
  test("come in order, and after the last one all is well", async () => {
    const { run, world } = await newWorld({ "mail.send": ["ok", "fail", "fail"] });
    await world.mail.send(mail);
    await expect(world.mail.send(mail)).rejects.toThrow("unavailable");
    await expect(world.mail.send(mail)).rejects.toThrow("unavailable");
    await world.mail.send(mail);
    expect(await evidence(run)).toEqual({ "email.sent": 2 });
  });

  test("are met once each by calls at the same moment", async () => {
    const { run, world } = await newWorld({ "mail.send": ["fail", "fail", "fail"] });
    const calls = await Promise.allSettled(Array.from({ length: 8 }, () => world.mail.send(mail)));
    expect(calls.filter((result) => result.status === "rejected")).toHaveLength(3);
    expect(await evidence(run)).toEqual({ "email.sent": 5 });
  });

  test("`always` never gets better", async () => {
    const { world } = await newWorld({ "carrier.ship": { always: "fail" } });
    for (let nth = 1; nth <= 3; nth++) {
      await expect(world.carrier.ship({ orderId: "o-1" })).rejects.toThrow("[simulated]");
    }
  });

  test("the provider's own words reach the caller", async () => {
    const busy = { code: "rate_limited", message: "too many requests", retryAfterSeconds: 7 };
    const { world } = await newWorld({ "payments.charge": [busy] });
    await expect(world.payments.charge(charge)).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterSeconds: 7,
      message: "[simulated] payments.charge: rate_limited: too many requests; try again in 7 s",
    });
  });

  test("meet what is no provider's too, in order and without an effect", async () => {
    const full = { code: "rate_limited", message: "too many creates" };
    const { run } = await newWorld({ "workflow.create": [full, "fail"] });
    await expect(meetFault(WORLD, run, "workflow.create")).rejects.toThrow("rate_limited");
    await expect(meetFault(WORLD, run, "workflow.create")).rejects.toThrow("unavailable");
    expect(await meetFault(WORLD, run, "workflow.create")).toBe("ok");
    expect(await evidence(run)).toEqual({});
  });

  test("`slowMs` has its effect before its answer", async () => {
    const { run, world } = await newWorld({ "payments.charge": [{ slowMs: 60_000 }] });
    const late = vi.fn();
    world.payments.charge(charge).then(late, late);
    await vi.waitUntil(async () => (await evidence(run))["card.charged"] === 1, PATIENTLY);
    expect(late).not.toHaveBeenCalled();
  });

  test.each([
    ["hang", {}],
    ["hang-after-effect", { "email.sent": 1 }],
  ] as const)("`%s` says that it hangs once its effects are decided", async (fault, effects) => {
    const { run, world } = await newWorld({ "mail.send": [fault] });
    const answer = vi.fn();
    world.mail.send(mail).then(answer, answer);
    await vi.waitUntil(
      async () => (await hangingCalls(WORLD, run)).includes("mail.send"),
      PATIENTLY,
    );
    expect(await evidence(run)).toEqual(effects);
    expect(answer).not.toHaveBeenCalled();

    // Another call that is answered does not help the one that hangs; the end of its runtime does.
    await world.mail.send(mail);
    expect(await hangingCalls(WORLD, run)).toEqual(["mail.send"]);
    await forgetHangs(WORLD, run);
    expect(await hangingCalls(WORLD, run)).toEqual([]);
  });
});

test("a lasting fault about something hits only what is about it", async () => {
  const { run, world } = await newWorld({ "mail.send": { always: "fail", about: "eve@" } });
  for (let nth = 1; nth <= 2; nth++) {
    await world.mail.send(mail);
    await expect(world.mail.send({ ...mail, to: "eve@example.com" })).rejects.toThrow(
      "unavailable",
    );
  }
  expect(await evidence(run)).toEqual({ "email.sent": 2 });
});

describe("mail through the send_email binding", () => {
  const keyed = { ...mail, key: "k" };

  test("a keyed mail is handed over once, without its key", async () => {
    const { run } = await newWorld();
    const send = vi.fn((message: EmailMessageBuilder) => env.EMAIL.send(message));
    const { mail: provider } = outsideWorld({ WORLD, EMAIL: { send } }, run);
    await provider.send(keyed);
    await provider.send(keyed);
    expect(send).toHaveBeenCalledTimes(1);
    expect(send).toHaveBeenCalledWith(expect.not.objectContaining({ key: "k" }));
  });

  test.each([
    ["news@example.org", "news@example.org"],
    [undefined, "hello@example.com"],
  ])("MAIL_FROM %s: it comes from %s", async (from, sender) => {
    const { run } = await newWorld();
    const send = vi.fn((message: EmailMessageBuilder) => env.EMAIL.send(message));
    const bindings = { WORLD, EMAIL: { send }, ...(from ? { MAIL_FROM: from } : {}) };
    await outsideWorld(bindings, run).mail.send(mail);
    expect(send.mock.lastCall?.[0].from).toMatchObject({ email: sender });
  });

  test("there is no receipt before the binding has answered: a mail that nobody knows of is sent again", async () => {
    const { run } = await newWorld();
    const silent = { send: vi.fn(() => new Promise<never>(() => {})) };
    void outsideWorld({ WORLD, EMAIL: silent }, run).mail.send(keyed);
    await vi.waitUntil(() => silent.send.mock.calls.length === 1);
    expect(await evidence(run)).toEqual({});

    // As after a crash: the same mail, the same key.
    const send = vi.fn((message: EmailMessageBuilder) => env.EMAIL.send(message));
    await outsideWorld({ WORLD, EMAIL: { send } }, run).mail.send(keyed);
    expect(send).toHaveBeenCalledTimes(1);
    expect(await evidence(run)).toEqual({ "email.sent": 1 });
  });

  test("what the binding refuses has not been sent, and its key stays free", async () => {
    const { run } = await newWorld();
    const { mail: provider } = outsideWorld({ WORLD, EMAIL: env.EMAIL }, run);
    await expect(provider.send({ ...keyed, to: "eve@example.com" })).rejects.toThrow("not allowed");
    expect(await evidence(run)).toEqual({});
    await provider.send(keyed);
    expect(await evidence(run)).toEqual({ "email.sent": 1 });
  });
});

describe("an alert", () => {
  const alert = { subject: "Something died", text: "It is this.", key: "k" };

  test.each([undefined, "", "none", crypto.randomUUID()])(
    "to the webhook %j, which is none, is only noted",
    async (webhook) => {
      const { run } = await newWorld();
      const bindings = { WORLD, ...(webhook === undefined ? {} : { ALERT_WEBHOOK: webhook }) };
      await outsideWorld(bindings, run).alerts.send(alert);
      expect(await evidence(run)).toEqual({ "alert.sent": 1 });
    },
  );

  test("that its webhook does not take was not sent, and is tried again under its key", async () => {
    const { run } = await newWorld();
    // Nobody listens on this port.
    const { alerts } = outsideWorld({ WORLD, ALERT_WEBHOOK: "http://localhost:1/" }, run);
    await expect(alerts.send(alert)).rejects.toThrow(/network|connect|refused|lost/i);
    expect(await evidence(run)).toEqual({});
    await outsideWorld({ WORLD }, run).alerts.send(alert);
    expect(await evidence(run)).toEqual({ "alert.sent": 1 });
  });
});

describe("the stand-in for a model", () => {
  const textsOf = async (calls: { key?: string }[]) => {
    const { run, world } = await newWorld();
    const texts = [];
    for (const options of calls) {
      texts.push((await world.model.run("a-model", { messages: prompt }, options)).response);
    }
    return { run, texts };
  };

  test("writes another text at every call, the same ones in every run, and says what it is", async () => {
    const one = await textsOf([{}, {}, {}, {}, {}]);
    const two = await textsOf([{}, {}, {}, {}, {}]);
    expect(new Set(one.texts).size).toBe(5);
    expect(two.texts).toEqual(one.texts);
    for (const text of one.texts) expect(text).toMatch(/^\[simulated\] .*Tea, <b> and 茶\n$/s);
  });

  test("writes the same text again for the same key, whatever was written meanwhile", async () => {
    const { run, texts } = await textsOf([{ key: "a" }, {}, { key: "b" }, { key: "a" }]);
    expect(texts[3]).toBe(texts[0]);
    expect(new Set(texts).size).toBe(3);
    expect(await evidence(run)).toEqual({ "model.called": 3 });
  });

  test("gives the text of the lost answer to whoever asks again with its key", async () => {
    const { run, world } = await newWorld({ "model.run": ["fail-after-effect"] });
    const ask = () => world.model.run("a-model", { messages: prompt }, { key: "k" });
    await expect(ask()).rejects.toThrow("connection_reset");
    expect((await ask()).response).toContain("Text 1 ");
    expect(await evidence(run)).toEqual({ "model.called": 1 });
  });
});

describe("run records", () => {
  test("are read back as they were stored", async () => {
    const run = crypto.randomUUID();
    expect(await readRun(WORLD, run)).toBeNull();
    await openRun(WORLD, run, { startedBy: { pair: "p" } });
    await recordRun(WORLD, run, { status: "complete", output: { n: 1 } });
    expect(await readRun(WORLD, run)).toEqual({
      startedBy: { pair: "p" },
      status: "complete",
      output: { n: 1 },
      error: null,
      startedAt: expect.any(Number),
    });
  });

  test("observations come back in their order", async () => {
    const { run } = await newWorld();
    await observe(WORLD, run, [
      { kind: "message.delivered", detail: { n: 1 } },
      { kind: "message.acked", detail: "x" },
    ]);
    await observe(WORLD, run, [{ kind: "message.delivered", detail: null }]);
    expect(await observationsOf(WORLD, run)).toEqual([
      { kind: "message.delivered", detail: { n: 1 } },
      { kind: "message.acked", detail: "x" },
      { kind: "message.delivered", detail: null },
    ]);
  });

  test("an outage begins and ends with its script, before and after the run is opened", async () => {
    const run = crypto.randomUUID();
    const world = outsideWorld({ WORLD }, run);
    await scriptFaults(WORLD, run, { "mail.send": { always: "fail" } });
    await expect(world.mail.send(mail)).rejects.toThrow("[simulated]");
    await openRun(WORLD, run, {});
    await expect(world.mail.send(mail)).rejects.toThrow("[simulated]");
    await scriptFaults(WORLD, run, {});
    await world.mail.send(mail);
    expect(await evidence(run)).toEqual({ "email.sent": 1 });
  });

  test("opening a run twice keeps the first script", async () => {
    const { run, world } = await newWorld({ "mail.send": ["fail"] });
    await openRun(WORLD, run, {});
    await expect(world.mail.send(mail)).rejects.toThrow("[simulated]");
  });
});

test("a sweep forgets what is older, of every table, and nothing else", async () => {
  const [old, young] = [await newWorld(), await newWorld()];
  for (const { run, world } of [old, young]) {
    await world.mail.send({ ...mail, key: "k" });
    await observe(WORLD, run, [{ kind: "seen", detail: 1 }]);
  }
  const at = Date.now() - 1000;
  for (const table of ["calls", "effects", "observations"]) {
    await WORLD.prepare(`UPDATE ${table} SET at = ?2 WHERE run = ?1`).bind(old.run, at).run();
  }
  await WORLD.prepare("UPDATE runs SET started_at = ?2 WHERE run = ?1").bind(old.run, at).run();
  const rowsOf = (run: string) =>
    Promise.all([
      readRun(WORLD, run),
      callsOf(WORLD, run),
      effectsOf(WORLD, run),
      observationsOf(WORLD, run),
    ]);
  const kept = await rowsOf(young.run);
  await sweepWorld(WORLD, at + 1);
  expect(await rowsOf(old.run)).toEqual([null, [], [], []]);
  expect(await rowsOf(young.run)).toEqual(kept);
  await old.world.mail.send({ ...mail, key: "k" });
  expect(await evidence(old.run)).toEqual({ "email.sent": 1 });
});

describe("looking at many runs", () => {
  test("every run that has effects has its own evidence", async () => {
    const [one, two, none] = [await newWorld(), await newWorld(), await newWorld()];
    await one.world.mail.send(mail);
    await one.world.mail.send(mail);
    await two.world.mail.send(mail);
    await two.world.payments.charge(charge);
    const all = await evidenceByRun(WORLD);
    expect(all.get(one.run)).toEqual({ "email.sent": 2 });
    expect(all.get(two.run)).toEqual({ "email.sent": 1, "card.charged": 1 });
    expect(all.has(none.run)).toBe(false);
  });

  test("calls are listed with what they met, of one run or of all", async () => {
    const busy = { code: "rate_limited", message: "too many requests" };
    const { run, world } = await newWorld({ "mail.send": ["ok", busy] });
    await world.mail.send(mail);
    await expect(world.mail.send(mail)).rejects.toThrow("rate_limited");
    await world.mail.send(mail);
    const calls = ["ok", busy, null].map((fault, index) => ({
      operation: "mail.send",
      nth: index + 1,
      fault,
      hangs: false,
    }));
    expect(await callsOf(WORLD, run)).toEqual(calls);
    expect(await callsOf(WORLD)).toEqual(expect.arrayContaining(calls));
    expect(await callsOf(WORLD, crypto.randomUUID())).toEqual([]);
  });

  test("calls that hang are counted, also those that were repeated since", async () => {
    const { run, world } = await newWorld({ "mail.send": ["hang", "hang-after-effect"] });
    const well = await newWorld();
    await well.world.mail.send(mail);
    const silent = await newWorld();
    for (const nth of [1, 2]) {
      void world.mail.send(mail);
      await vi.waitUntil(async () => (await hangsByRun(WORLD)).get(run) === nth, PATIENTLY);
    }
    await world.mail.send(mail);
    const hangs = await hangsByRun(WORLD);
    expect([run, well.run, silent.run].map((of) => hangs.get(of))).toEqual([2, 0, undefined]);
    expect((await callsOf(WORLD, run)).map((call) => call.hangs)).toEqual([true, true, false]);
  });

  test("many runs are scripted at once, the known ones anew", async () => {
    const known = await newWorld({ "mail.send": ["fail"] });
    const runs = [known.run, crypto.randomUUID(), `it's "odd"`];
    await scriptManyRuns(
      WORLD,
      runs.map((run) => [run, { "carrier.ship": ["fail"] }]),
    );
    for (const run of runs) {
      const world = outsideWorld({ WORLD }, run);
      await world.mail.send(mail);
      await expect(world.carrier.ship({ orderId: "o-1" })).rejects.toThrow("unavailable");
    }
    await scriptManyRuns(WORLD, []);
  });
});
