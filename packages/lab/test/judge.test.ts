import type { Effect } from "@durable-lessons/outside-world/rules";
import { describe, expect, test } from "vitest";
import { judge, judgeFlow, type TrialRun } from "../src/judge.ts";
import type { Pair, RunLedger } from "../src/pair.ts";
import {
  isLasting,
  type Trial,
  trialsOf,
  trialsOfCompensations,
  UNDISTURBED,
  YES,
} from "../src/trials.ts";

const pairOf = (engine: Pair["engine"]) => ({ id: "a-pair", engine }) as Pair;
const effect = (kind: Effect["kind"], detail: object, names: string[] = []): Effect => ({
  id: `${kind}_1`,
  kind,
  key: null,
  detail,
  names,
  at: 0,
});
const ledger = (effects: Effect[] = [], fields: Partial<RunLedger> = {}): RunLedger => ({
  effects,
  operations: [],
  awaited: [],
  kept: 0,
  ...fields,
});
const mailTo = (name: string, names?: string[]) =>
  effect("email.sent", { to: `sha256:${name}`, subject: "Welcome" }, names);
const parcel = effect("parcel.shipped", { orderId: "o" });

interface Seen {
  status?: string;
  effects?: Effect[];
  observations?: Record<string, number>;
  responses?: number[];
  kept?: number;
}
const ended = ({ status = "complete", effects, kept = 0, ...seen }: Seen): TrialRun => ({
  run: "r1",
  failure: undefined,
  report: {
    status,
    error: null,
    output: { responses: (seen.responses ?? []).map((code) => ({ status: code })) },
    observations: seen.observations ?? {},
  },
  ledger: ledger(effects, { kept }),
});
const trial = (fields: Partial<Trial> = {}): Trial => ({
  name: "a trial",
  faults: {},
  answer: { payload: YES },
  ...fields,
});
const rules = (
  engine: Pair["engine"],
  fields: Partial<Trial>,
  seen: Seen,
  normal: RunLedger = ledger([mailTo("ada")]),
) => judge(pairOf(engine), trial(fields), ended(seen), normal).map(({ rule }) => rule);

test("a run that is not over is told by why it was given up", () => {
  const run = { ...ended({ status: "timed out" }), failure: "timed out after 5 ms" };
  expect(judge(pairOf("queue"), trial(), run, ledger())).toEqual([
    { rule: "comes-to-an-end", saw: "timed out after 5 ms" },
  ]);
});

test("many findings of one rule are one, with their number", () => {
  const effects = ["ada", "bob", "eve"].flatMap((name) => [mailTo(name), mailTo(name)]);
  const [broken, ...others] = judge(pairOf("queue"), trial(), ended({ effects }), ledger(effects));
  expect(others).toEqual([]);
  expect(broken?.saw).toMatch(/^email\.sent 2 times to one address, "Welcome", and 2 more$/);
});

describe("a queue", () => {
  test("keeps what it does not do: by its dead letters or by its own table", () => {
    expect(rules("queue", {}, {})).toEqual(["messages-are-kept"]);
    expect(rules("queue", {}, { observations: { "message.dead-lettered": 1 } })).toEqual([]);
    expect(rules("queue", {}, { kept: 1 })).toEqual([]);
    expect(rules("queue", {}, { effects: [mailTo("ada")] })).toEqual([]);
  });

  test("serves the neighbours of a bad message, before it and after it, and keeps the bad one", () => {
    const disturb = { neighbour: null };
    const [own, last] = [mailTo("ada+r1"), mailTo("ada+r1-last", ["r1-last"])];
    const kept = { observations: { "message.dead-lettered": 1 } };
    expect(rules("queue", { disturb }, { effects: [own, last], ...kept })).toEqual([]);
    expect(rules("queue", { disturb }, { effects: [own], ...kept })).toEqual([
      "neighbours-are-served",
    ]);
    expect(rules("queue", { disturb }, { effects: [last], ...kept })).toEqual([
      "neighbours-are-served",
    ]);
    expect(rules("queue", { disturb }, { effects: [own, last] })).toEqual(["messages-are-kept"]);
    expect(rules("queue", { disturb }, { effects: [own, own, last], ...kept })).toEqual([
      "mailed-once",
    ]);
  });
});

describe("a request", () => {
  const all = { effects: [mailTo("ada")] };
  test("is answered, where nothing is wrong", () => {
    const disturb = { deliver: 2 };
    expect(rules("http", { disturb }, { ...all, responses: [202, 202] })).toEqual([]);
    expect(rules("http", { disturb }, { ...all, responses: [202, 500] })).toEqual([
      "requests-are-answered",
    ]);
    expect(rules("http", { disturb }, { ...all, status: "errored" })).toEqual([
      "requests-are-answered",
    ]);
  });

  test("may be refused under a fault; what was accepted is done", () => {
    const faults = { "mail.send": ["fail" as const] };
    expect(rules("http", { faults }, { responses: [503] })).toEqual([]);
    expect(rules("http", { faults }, { responses: [202] })).toEqual(["complete-means-all"]);
  });

  test("that cannot be understood gets a 4xx and does nothing", () => {
    const disturb = { body: "a string" };
    expect(rules("http", { disturb }, { responses: [400] })).toEqual([]);
    expect(rules("http", { disturb }, { responses: [202] })).toEqual(["bad-input-is-told"]);
    expect(rules("http", { disturb }, { ...all, responses: [400] })).toEqual(["bad-input-is-told"]);
    expect(rules("http", { disturb }, { status: "errored" })).toEqual(["bad-input-is-told"]);
  });
});

describe("a Workflow", () => {
  const normal = ledger([parcel], { awaited: ["review"] });
  const no = { answer: { payload: { approved: false } } };

  test("does all after a yes, and nothing after a no", () => {
    expect(rules("workflow", {}, { effects: [parcel] }, normal)).toEqual([]);
    expect(rules("workflow", {}, {}, normal)).toEqual(["complete-means-all"]);
    expect(rules("workflow", no, { status: "errored" }, normal)).toEqual([]);
    expect(rules("workflow", no, { effects: [parcel] }, normal)).toEqual([
      "no-means-no",
      "undone-leaves-nothing",
    ]);
  });

  test("of a lesson's own code is judged alike, and so are the answers of its routes", () => {
    const broken = judgeFlow(trial(no), ended({ effects: [parcel] }), normal);
    expect(broken.map(({ rule }) => rule)).toContain("no-means-no");
    const refused = { ...ended({ effects: [parcel] }), failure: "it was answered 500" };
    expect(judgeFlow(trial(), refused, normal)).toEqual([
      { rule: "requests-are-answered", saw: "it was answered 500" },
    ]);
  });
});

describe("the trials", () => {
  test("are the same for every call, and those of the engine", () => {
    const names = (engine: Pair["engine"], operations: RunLedger["operations"]) =>
      trialsOf(pairOf(engine), { operations, awaited: [] }).map(({ name }) => name);
    expect(names("workflow", ["mail.send"])).toEqual([
      "mail.send always fails",
      "mail.send fails",
      "mail.send: answer lost",
      "killed during mail.send",
      "killed after mail.send",
      "restarted after its end",
    ]);
    expect(names("queue", ["workflow.create"])).toContain("createBatch reports errors");
    expect(names("queue", [])).toContain("a neighbour is null");
    expect(names("http", [])).toContain("a body that is no object");
  });

  test("of compensations begin where most of them are called, once for each", () => {
    const lasting = [
      trial({
        name: "stock.reserve always fails",
        faults: { "stock.reserve": { always: "fail" } },
      }),
      trial({ name: "carrier.ship always fails", faults: { "carrier.ship": { always: "fail" } } }),
    ];
    const found = trialsOfCompensations(
      [
        { trial: lasting[0] ?? UNDISTURBED, operations: ["stock.reserve", "stock.release"] },
        {
          trial: lasting[1] ?? UNDISTURBED,
          operations: ["stock.reserve", "carrier.ship", "payments.refund", "stock.release"],
        },
      ],
      ["stock.reserve", "carrier.ship"],
    );
    const [lost, ...others] = [found.slice(0, 2), ...found.slice(2)];
    expect(lost.map(({ name }) => name)).toEqual([
      "stock.reserve: every answer lost",
      "carrier.ship: every answer lost",
    ]);
    expect(others.map(({ name }) => name)).toEqual(
      ["payments.refund", "stock.release"].flatMap((call) =>
        [
          `${call} fails`,
          `${call}: answer lost`,
          `killed during ${call}`,
          `killed after ${call}`,
        ].map((name) => `carrier.ship always fails, then ${name}`),
      ),
    );
    expect(others[0]?.faults).toEqual({
      "carrier.ship": { always: "fail" },
      "payments.refund": ["fail"],
    });
  });

  test("are lasting where a variant may have to give up", () => {
    expect(isLasting(trial({ faults: { "mail.send": { always: "fail" } } }))).toBe(true);
    expect(isLasting(trial({ faults: { "mail.send": ["fail"] } }))).toBe(false);
    expect(isLasting(trial({ answer: undefined }))).toBe(true);
  });
});
