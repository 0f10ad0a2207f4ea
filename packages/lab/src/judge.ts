/** Judges one trial by the rules of the outside world. Pure: what it looks at was read before. */
import {
  alwaysBroken,
  type Broken,
  endedWrong,
  missing,
  stillOut,
} from "@durable-lessons/outside-world/rules";
import { isOver, type Pair, type RunLedger, type RunReport } from "./pair.ts";
import { lastOf, neighbourOf, type Trial, YES } from "./trials.ts";

/** A run, as it ended. */
export interface TrialRun {
  run: string;
  /** Why the lab gave it up, if it did. */
  failure: string | undefined;
  report: Pick<RunReport, "error" | "observations" | "output" | "status">;
  ledger: RunLedger;
}

/**
 * What a trial broke.
 *
 * @param normal the ledger of a run of the same variant that nothing disturbed
 * @returns nothing where all rules hold
 */
export function judge(pair: Pair, trial: Trial, ended: TrialRun, normal: RunLedger): Broken[] {
  const { status } = ended.report;
  if (!isOver(status)) {
    return [{ rule: "comes-to-an-end", saw: ended.failure ?? `it is still ${status}` }];
  }
  const { effects } = ended.ledger;
  return summed([
    ...alwaysBroken({ status, effects }),
    ...byEngine[pair.engine](trial, ended, normal),
  ]);
}

/** Twenty mails that went twice are one finding. */
function summed(broken: readonly Broken[]): Broken[] {
  return Object.entries(Object.groupBy(broken, ({ rule }) => rule)).flatMap(([, all = []]) => {
    const [first, ...others] = all;
    if (!first) return [];
    return others.length > 0
      ? [{ ...first, saw: `${first.saw}, and ${others.length} more` }]
      : [first];
  });
}

/** What a trial of a lesson's own code broke: see {@link judge}. */
export function judgeFlow(trial: Trial, ended: TrialRun, normal: RunLedger): Broken[] {
  const { report, ledger, failure } = ended;
  const { status } = report;
  if (!isOver(status)) {
    return [{ rule: "comes-to-an-end", saw: failure ?? `it is still ${status}` }];
  }
  return summed([
    ...alwaysBroken({ status, effects: ledger.effects }),
    ...(failure ? [{ rule: "requests-are-answered" as const, saw: failure }] : []),
    ...byEngine.workflow(trial, ended, normal),
  ]);
}

type Judge = (trial: Trial, ended: TrialRun, normal: RunLedger) => Broken[];

const byEngine: Record<Pair["engine"], Judge> = {
  workflow({ answer }, { report: { status }, ledger: { effects } }, normal) {
    if (normal.awaited.length === 0 || answer?.payload === YES) {
      return endedWrong({ status, effects }, normal.effects);
    }
    const done = effects.filter(({ kind }) => APPROVED.has(kind)).map(({ kind }) => kind);
    return [
      ...done.map((saw): Broken => ({ rule: "no-means-no", saw })),
      ...stillOut(effects).map((saw): Broken => ({ rule: "undone-leaves-nothing", saw })),
    ];
  },

  queue({ disturb }, { run, report, ledger }, normal) {
    const { status, observations } = report;
    const { effects, kept } = ledger;
    // An instance that has failed is found too.
    const found =
      (observations["message.dead-lettered"] ?? 0) + kept + (status === "complete" ? 0 : 1);
    if (disturb && ("neighbour" in disturb || "neighbourFails" in disturb)) {
      const isAbout =
        (name: string) =>
        ({ names }: (typeof effects)[number]) =>
          names.includes(name);
      const [last, bad] = [isAbout(lastOf(run)), isAbout(neighbourOf(run))];
      const own = effects.filter((effect) => !last(effect) && !bad(effect));
      const lacks = missing(own, normal.effects);
      if (normal.effects.length > 0 && !effects.some(last)) lacks.push("all of the last message");
      return [
        ...lacks.map((saw): Broken => ({ rule: "neighbours-are-served", saw: `without ${saw}` })),
        ...stillOut(effects.filter(bad)).map((saw): Broken => ({
          rule: "undone-leaves-nothing",
          saw: `its neighbour: ${saw}`,
        })),
        ...(found === 0 ? [LOST] : []),
      ];
    }
    if (status !== "complete") return endedWrong({ status, effects }, normal.effects);
    return missing(effects, normal.effects).length > 0 && found === 0 ? [LOST] : [];
  },

  http({ disturb, faults }, { report, ledger: { effects } }, normal) {
    const { status } = report;
    const codes = responsesOf(report.output).map((response) => response.status);
    if (disturb && "body" in disturb) {
      const [code = 500] = codes;
      if (code >= 400 && code < 500 && effects.length === 0) return [];
      return [{ rule: "bad-input-is-told", saw: codes.length > 0 ? `it got ${code}` : "it threw" }];
    }
    const isRefused = codes.length === 0 || codes.some((code) => code >= 500);
    if (isRefused && Object.keys(faults).length === 0) {
      return [{ rule: "requests-are-answered", saw: codes.join(", ") || "it threw" }];
    }
    // Whoever asks knows that it went wrong, and asks again, or for something else.
    if (isRefused) return [];
    if (effects.length === 0 && codes.every((code) => code >= 400)) return [];
    // What it has put into a queue is a dead letter.
    if ((report.observations["message.dead-lettered"] ?? 0) > 0) return [];
    return endedWrong({ status, effects }, normal.effects);
  },
};

const LOST: Broken = { rule: "messages-are-kept", saw: "acked, not done, and nowhere to be found" };

/** What nobody may do before somebody has said yes. */
const APPROVED = new Set<string>(["parcel.shipped", "article.published"]);

function responsesOf(output: unknown): { status: number }[] {
  const responses: unknown =
    typeof output === "object" && output !== null ? Reflect.get(output, "responses") : undefined;
  return Array.isArray(responses) ? responses : [];
}
