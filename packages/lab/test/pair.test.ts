import { describe, expect, test } from "vitest";
import { describeDisturbance } from "../src/describe.ts";
import { compareEvidence } from "../src/evidence.ts";
import type { Pair } from "../src/pair.ts";

const seen = { status: "complete", output: null, evidence: {}, observations: {} };

describe("compareEvidence", () => {
  test("nothing differs where everything is as expected", () => {
    const report = { ...seen, evidence: { "email.sent": 2 }, observations: { "message.acked": 1 } };
    expect(compareEvidence({ "email.sent": 2, "message.acked": 1 }, report)).toEqual({
      evidence: { "email.sent": 2, "message.acked": 1 },
      expected: { "email.sent": 2, "message.acked": 1 },
      differences: [],
    });
  });

  test("a difference names the kind, what was expected and what was seen", () => {
    const report = { ...seen, evidence: { "email.sent": 1 } };
    expect(compareEvidence({ "email.sent": 2 }, report).differences).toEqual([
      { kind: "email.sent", expected: 2, seen: 1 },
    ]);
  });

  test("an effect that nobody expects is a difference", () => {
    const report = { ...seen, evidence: { "email.sent": 1, "card.charged": 1 } };
    expect(compareEvidence({ "email.sent": 1 }, report)).toEqual({
      evidence: { "email.sent": 1, "card.charged": 1 },
      expected: { "email.sent": 1, "card.charged": 0 },
      differences: [{ kind: "card.charged", expected: 0, seen: 1 }],
    });
  });

  test("an effect that is expected and did not happen was seen 0 times", () => {
    expect(compareEvidence({ "email.sent": 1 }, seen)).toEqual({
      evidence: { "email.sent": 0 },
      expected: { "email.sent": 1 },
      differences: [{ kind: "email.sent", expected: 1, seen: 0 }],
    });
  });

  test("an observation counts where it is named, and only there", () => {
    const report = { ...seen, observations: { "message.acked": 3, "consumer.called": 9 } };
    expect(compareEvidence({ "message.acked": 3 }, report)).toEqual({
      evidence: { "message.acked": 3 },
      expected: { "message.acked": 3 },
      differences: [],
    });
    expect(compareEvidence({ "message.acked": 0 }, report).differences).toEqual([
      { kind: "message.acked", expected: 0, seen: 3 },
    ]);
    expect(compareEvidence({ "message.delivered": 0 }, report).differences).toEqual([]);
  });

  test("a field of the output counts where it is named, however deep it lies", () => {
    const report = {
      ...seen,
      output: { sent: true, responses: [{ status: 202 }, { status: 200 }] },
    };
    expect(compareEvidence({}, report)).toEqual({ evidence: {}, expected: {}, differences: [] });
    expect(
      compareEvidence({ "output.sent": true, "output.responses.1.status": 202 }, report),
    ).toEqual({
      evidence: { "output.sent": true, "output.responses.1.status": 200 },
      expected: { "output.sent": true, "output.responses.1.status": 202 },
      differences: [{ kind: "output.responses.1.status", expected: 202, seen: 200 }],
    });
  });

  test.each([null, "text", 3, { other: 1 }, { sent: null }])(
    "a field that is not in the output %j is a difference",
    (output) => {
      const { differences } = compareEvidence({ "output.sent.deeper": 1 }, { ...seen, output });
      expect(differences).toEqual([{ kind: "output.sent.deeper", expected: 1, seen: undefined }]);
    },
  );

  test("a number is not the text of that number", () => {
    const { differences } = compareEvidence({ "output.n": 1 }, { ...seen, output: { n: "1" } });
    expect(differences).toEqual([{ kind: "output.n", expected: 1, seen: "1" }]);
  });

  test("a run must be complete unless another status is named", () => {
    const errored = { ...seen, status: "errored" };
    expect(compareEvidence({}, errored).differences).toEqual([
      { kind: "status", expected: "complete", seen: "errored" },
    ]);
    expect(compareEvidence({ status: "errored" }, errored)).toEqual({
      evidence: { status: "errored" },
      expected: { status: "errored" },
      differences: [],
    });
    expect(compareEvidence({ status: "errored" }, seen).differences).toEqual([
      { kind: "status", expected: "errored", seen: "complete" },
    ]);
  });

  test("the report and the expectation are left as they are", () => {
    const report = { ...seen, evidence: { "card.charged": 1 } };
    const expectation = { "email.sent": 1 };
    compareEvidence(expectation, report);
    expect(report.evidence).toEqual({ "card.charged": 1 });
    expect(expectation).toEqual({ "email.sent": 1 });
  });
});

describe("describeDisturbance", () => {
  const base = {
    id: "p",
    title: "",
    claim: "",
    why: "",
    claims: [],
    expect: { pitfall: {}, fix: {} },
    pitfall: async () => ({}),
    fix: async () => ({}),
  };
  const workflow: Pair = { ...base, engine: "workflow" };
  const queue: Pair = { ...base, engine: "queue", messages: () => [] };
  const http: Pair = { ...base, engine: "http", body: () => ({}) };

  test.each<[string, Pair]>([
    ["nothing", workflow],
    [
      'the runtime is killed during step "pay"',
      { ...workflow, disturb: { crash: { during: "pay" } } },
    ],
    [
      'the runtime is killed after step "pay"',
      { ...workflow, disturb: { crash: { after: "pay" } } },
    ],
    ["the same message 2 times at once", { ...queue, disturb: { deliver: 2, atOnce: true } }],
    ["an outage of 2 s", { ...queue, disturb: { outage: { seconds: 2 } } }],
    [
      "the instance is past its retention, then the message again",
      { ...queue, disturb: { expire: true } },
    ],
    [
      'the runtime is killed during "mail.send"',
      { ...queue, disturb: { crash: { during: "mail.send" } } },
    ],
    [
      'the runtime is killed after "mail.send"',
      { ...http, disturb: { crash: { after: "mail.send" } } },
    ],
    ["the same message 2 times", { ...queue, disturb: { deliver: 2 } }],
    ["the same request 3 times", { ...http, disturb: { deliver: 3 } }],
    ["restarted from the beginning", { ...workflow, disturb: { restart: {} } }],
    ['restarted from step "pay"', { ...workflow, disturb: { restart: { from: "pay" } } }],
    ['the event "go"', { ...workflow, disturb: { sendEvent: { type: "go" } } }],
    ['the event "go" 2 times', { ...workflow, disturb: { sendEvent: { type: "go", times: 2 } } }],
  ])("says: %s", (text, pair) => {
    expect(describeDisturbance(pair)).toBe(text);
  });

  test("names what fails outside, but not the hang that a crash needs", () => {
    const faults: Pair["faults"] = {
      "accounts.open": ["hang"],
      "carrier.ship": { always: "decline" },
      "mail.send": ["ok", "fail", { slowMs: 50 }],
      "payments.charge": [{ code: "rate_limited", message: "slow down" }],
    };
    const pair: Pair = { ...workflow, faults, disturb: { crash: { during: "open" } } };
    expect(describeDisturbance(pair)).toBe(
      'the runtime is killed during step "open"; carrier.ship: always decline; ' +
        "mail.send: fail, answers 50 ms late; payments.charge: rate_limited",
    );
    expect(describeDisturbance({ ...workflow, faults: { "mail.send": ["fail"] } })).toBe(
      "mail.send: fail",
    );
  });
});
