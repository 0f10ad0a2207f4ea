/**
 * The trials of the gauntlet: everything that may go wrong around a variant, one thing at a time. Data only, so that the
 * Worker, the runner and the docs can read it.
 */
import type { Operation } from "@durable-lessons/outside-world/faults";
import type { Disturbance, Pair, RunLedger } from "./pair.ts";
import type { Plan, TrialSettings } from "./plan.ts";

/** One trial of one variant. */
export interface Trial {
  /** Names it in the grid, and in a pair's exceptions: `mail.send fails`. */
  name: string;
  faults: Plan["faults"];
  disturb?: Disturbance;
  answer?: TrialSettings["answer"];
}

/** What whoever is asked says. */
export const YES = { approved: true };
const NO = { approved: false };
/** What nobody who follows the types would send. */
const MALFORMED = "approved";

/** What tells the requests of a bad neighbour from a run's own: no run's id, which is hexadecimal, holds it. */
const NEIGHBOUR = "-neighbour";

/** The id that a run's bad neighbour takes for the run's. */
export const neighbourOf = (run: string) => run + NEIGHBOUR;

/** The id that the good message after a bad neighbour takes for the run's. */
export const lastOf = (run: string) => `${run}-last`;

/** A run that nothing disturbs: what waits for an event gets a yes. */
export const UNDISTURBED: Trial = { name: "undisturbed", faults: {}, answer: { payload: YES } };

/**
 * The trials of a variant, by its engine and by what an undisturbed run has called and waited for.
 */
export function trialsOf(
  pair: Pair,
  { operations, awaited }: Pick<RunLedger, "awaited" | "operations">,
): Trial[] {
  return [
    ...operations.flatMap((operation) => [lastingFaultOf(operation), ...faultsOf(operation)]),
    ...byEngine(pair, { operations, awaited }),
  ].map((trial) => ({ answer: { payload: YES }, ...trial }));
}

/** The trials of a lesson's own code: see {@link trialsOf}. */
export function flowTrialsOf({
  operations,
  awaited,
}: Pick<RunLedger, "awaited" | "operations">): Trial[] {
  const no: Trial = { name: "every answer is no", faults: {}, answer: { payload: NO } };
  return [
    ...operations.flatMap((operation) => [lastingFaultOf(operation), ...faultsOf(operation)]),
    { name: "the request twice", faults: {}, disturb: { deliver: 2 } },
    ...(awaited.length > 0 ? [no] : []),
  ].map((trial) => ({ answer: { payload: YES }, ...trial }));
}

/**
 * What an order does only once something has gone wrong for good, its compensation, is called in no undisturbed run.
 * These are the trials of such calls: what made the variant call them, and a fault of the call, each call once; and, for a
 * variant that takes something back, calls of which every answer is lost.
 *
 * @param lasting the lasting trials, with what the variant has called in them
 * @param known what it has called in the undisturbed run
 */
export function trialsOfCompensations(
  lasting: readonly { trial: Trial; operations: readonly Operation[] }[],
  known: readonly Operation[],
): Trial[] {
  const seen = new Set(known);
  const called = lasting.flatMap(({ operations }) => operations);
  // Who takes things back must know what there is, also where no answer has ever come. Who does not has said so by then.
  const unknown = called.some(
    (operation) => COMPENSATIONS.has(operation) && !known.includes(operation),
  )
    ? known.map((operation): Trial => ({
        name: `${operation}: every answer lost`,
        faults: { [operation]: { always: "fail-after-effect" } },
        answer: { payload: YES },
      }))
    : [];
  const fresh = ({ operations }: { operations: readonly Operation[] }) =>
    operations.filter((operation) => !known.includes(operation)).length;
  // That which calls most of them is an order that was nearly done.
  const compensations = lasting
    .toSorted((one, other) => fresh(other) - fresh(one))
    .flatMap(({ trial, operations }) =>
      operations.flatMap((operation) => {
        if (seen.has(operation)) return [];
        seen.add(operation);
        return faultsOf(operation).map(({ name, faults, ...rest }) => ({
          ...trial,
          ...rest,
          name: `${trial.name}, then ${name}`,
          faults: { ...trial.faults, ...faults },
        }));
      }),
    );
  return [...unknown, ...compensations];
}

/** What keeps a variant from going on as usual: see {@link trialsOfCompensations}. */
const lastingFaultOf = (operation: Operation): Trial => ({
  name: `${operation} always fails`,
  faults: { [operation]: { always: "fail" } },
});

/** What takes something back. */
const COMPENSATIONS = new Set<Operation>(["carrier.recall", "payments.refund", "stock.release"]);

/** Is this a trial after which a variant may do what it does not do otherwise? */
export const isLasting = ({ disturb, faults, answer }: Trial): boolean =>
  disturb === undefined &&
  (answer?.payload !== YES || Object.values(faults).some((script) => !Array.isArray(script)));

const faultsOf = (operation: Operation): Trial[] => [
  { name: `${operation} fails`, faults: { [operation]: ["fail"] } },
  { name: `${operation}: answer lost`, faults: { [operation]: ["fail-after-effect"] } },
  {
    name: `killed during ${operation}`,
    faults: { [operation]: ["hang"] },
    disturb: { crash: { call: operation } },
  },
  {
    name: `killed after ${operation}`,
    faults: { [operation]: ["hang-after-effect"] },
    disturb: { crash: { call: operation } },
  },
  ...(operation === "workflow.create"
    ? [{ name: "createBatch reports errors", faults: { [operation]: ["report-errors" as const] } }]
    : []),
];

function byEngine(
  { engine }: Pair,
  { operations, awaited }: Pick<RunLedger, "awaited" | "operations">,
): Trial[] {
  const disturbed = (name: string, disturb: Disturbance): Trial => ({ name, faults: {}, disturb });
  switch (engine) {
    case "workflow":
      return [
        disturbed("restarted after its end", { restart: {} }),
        ...(awaited.length > 0 ? answers : []),
      ];
    case "queue":
      return [
        disturbed("each message twice", { deliver: 2 }),
        disturbed("each message twice at once", { deliver: 2, atOnce: true }),
        disturbed("a neighbour is null", { neighbour: null }),
        disturbed("a neighbour is {}", { neighbour: {} }),
        disturbed("a neighbour is a string", { neighbour: "a string" }),
        // What refuses to create knows of no message: a rate limit.
        ...neighbourThatFails(operations.filter((operation) => operation !== "workflow.create")),
      ];
    case "http":
      return [
        disturbed("the request twice", { deliver: 2 }),
        disturbed("the request twice at once", { deliver: 2, atOnce: true }),
        disturbed("a body that is no object", { body: "a string" }),
        disturbed("an id like x@example.com", { oddIds: true }),
      ];
  }
}

const neighbourThatFails = (operations: readonly Operation[]): Trial[] =>
  operations.length === 0
    ? []
    : [
        {
          name: "a neighbour always fails",
          faults: Object.fromEntries(
            operations.map((operation) => [operation, { always: "fail", about: NEIGHBOUR }]),
          ),
          disturb: { neighbourFails: true },
        },
      ];

const answers: Trial[] = [
  { name: "every answer is no", faults: {}, answer: { payload: NO } },
  { name: "every answer is malformed", faults: {}, answer: { payload: MALFORMED } },
  { name: "every answer comes twice", faults: {}, answer: { payload: YES, times: 2 } },
  { name: "no answer comes", faults: {}, answer: undefined },
];
