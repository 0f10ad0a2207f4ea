import { expect, test } from "vitest";
import type { TrialRun } from "../src/judge.ts";
import { inPhases } from "../src/runner/phases.ts";
import { flowTrialsOf, type Trial } from "../src/trials.ts";

/** Calls a refund where the carrier fails for good, as an order would. */
const runOf = ({ faults }: Trial, status: string): TrialRun => ({
  run: "r1",
  failure: undefined,
  report: { status, output: null, error: null, observations: {} },
  ledger: {
    effects: [],
    operations: [
      "carrier.ship",
      "mail.send",
      ...("always" in (faults["carrier.ship"] ?? []) ? (["payments.refund"] as const) : []),
    ],
    awaited: [],
    kept: 0,
  },
});

async function phasesOf(status: string) {
  const phases: string[][] = [];
  const [tried] = await inPhases({
    subjects: ["an order"],
    trialsOf: (_, normal) => flowTrialsOf(normal),
    attempt: async (_, trials) => {
      phases.push(trials.map(({ name }) => name));
      return trials.map((trial) => runOf(trial, status));
    },
    judge: (_, { name }) => [{ rule: "done-once", saw: name }],
  });
  return { phases, tried };
}

test("trials come undisturbed first, then what lasts, then the rest with the compensations; each is judged", async () => {
  const { phases, tried } = await phasesOf("complete");
  const [undisturbed, lasting, others = []] = phases;
  expect(undisturbed).toEqual(["undisturbed"]);
  expect(lasting).toEqual(["carrier.ship always fails", "mail.send always fails"]);
  expect(others).toContain("killed during carrier.ship");
  expect(others).toContain("carrier.ship: every answer lost");
  expect(others).toContain("carrier.ship always fails, then payments.refund: answer lost");
  // What is told stands together by operation, whatever phase ran it.
  expect(tried?.trials).toEqual(
    [
      "undisturbed",
      "carrier.ship always fails",
      "carrier.ship fails",
      "carrier.ship: answer lost",
      "killed during carrier.ship",
      "killed after carrier.ship",
      "mail.send always fails",
      "mail.send fails",
      "mail.send: answer lost",
      "killed during mail.send",
      "killed after mail.send",
      "the request twice",
      "carrier.ship: every answer lost",
      "mail.send: every answer lost",
      "carrier.ship always fails, then payments.refund fails",
      "carrier.ship always fails, then payments.refund: answer lost",
      "carrier.ship always fails, then killed during payments.refund",
      "carrier.ship always fails, then killed after payments.refund",
    ].map((trial) => ({ trial, broken: [{ rule: "done-once", saw: trial }] })),
  );
});

test("what comes to no end undisturbed is judged for that, and tried no further", async () => {
  const { phases, tried } = await phasesOf("blocked");
  expect(phases.flat()).toEqual(["undisturbed"]);
  expect(tried?.trials.map(({ trial }) => trial)).toEqual(["undisturbed"]);
});
