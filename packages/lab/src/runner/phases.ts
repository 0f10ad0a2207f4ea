import type { Broken } from "@durable-lessons/outside-world/rules";
import type { TrialRun } from "../judge.ts";
import { isOver, type RunLedger } from "../pair.ts";
import { isLasting, type Trial, trialsOfCompensations, UNDISTURBED } from "../trials.ts";

/** What is taken through trials, and how. */
export interface Trying<Subject> {
  subjects: readonly Subject[];
  /** The trials of one, by what it called when nothing disturbed it. */
  trialsOf: (subject: Subject, normal: RunLedger) => Trial[];
  /** Runs trials of one, all at once. */
  attempt: (subject: Subject, trials: readonly Trial[]) => Promise<TrialRun[]>;
  judge: (subject: Subject, trial: Trial, run: TrialRun, normal: RunLedger) => Broken[];
  /** Is told how many runs come next. */
  announce?: (count: number) => void;
}

/** One of the subjects, and what its trials broke, in the order in which they are planned. */
export interface Tried<Subject> {
  subject: Subject;
  /** What it did when nothing disturbed it. */
  normal: RunLedger;
  trials: { trial: string; broken: Broken[] }[];
}

/**
 * Takes subjects through their trials: first each undisturbed, then what shows which compensations it has, then all others.
 * What comes to no end even undisturbed is tried no further.
 */
export async function inPhases<Subject>({
  subjects,
  trialsOf,
  attempt,
  judge,
  announce = () => undefined,
}: Trying<Subject>): Promise<Tried<Subject>[]> {
  const attemptAll = async (subject: Subject, trials: readonly Trial[]) =>
    (await attempt(subject, trials)).map((run, nth) => ({
      trial: trials[nth] ?? UNDISTURBED,
      run,
    }));
  const first = await Promise.all(
    subjects.map(async (subject) => {
      const [normal] = await attempt(subject, [UNDISTURBED]);
      if (!normal) throw new Error("There is no undisturbed run.");
      const trials = isOver(normal.report.status) ? trialsOf(subject, normal.ledger) : [];
      return { subject, normal, lasting: trials.filter(isLasting), trials };
    }),
  );
  announce(first.flatMap(({ lasting }) => lasting).length);
  const planned = await Promise.all(
    first.map(async ({ lasting, trials, ...side }) => {
      const runs = await attemptAll(side.subject, lasting);
      const compensations = trialsOfCompensations(
        runs.map(({ trial, run }) => ({ trial, operations: run.ledger.operations })),
        side.normal.ledger.operations,
      );
      const others = [...trials.filter((one) => !isLasting(one)), ...compensations];
      // The order in which they are told, whatever phase runs them: what belongs to one operation stands together.
      const order = [UNDISTURBED, ...trials, ...compensations].map(({ name }) => name);
      return { ...side, runs, others, order };
    }),
  );
  announce(planned.flatMap(({ others }) => others).length);
  return Promise.all(
    planned.map(async ({ subject, normal, runs, others, order }) => {
      const all = [
        { trial: UNDISTURBED, run: normal },
        ...runs,
        ...(await attemptAll(subject, others)),
      ];
      const place = ({ trial }: { trial: Trial }) => order.indexOf(trial.name);
      const trials = all
        .toSorted((one, other) => place(one) - place(other))
        .map(({ trial, run }) => ({
          trial: trial.name,
          broken: judge(subject, trial, run, normal.ledger),
        }));
      return { subject, normal: normal.ledger, trials };
    }),
  );
}
