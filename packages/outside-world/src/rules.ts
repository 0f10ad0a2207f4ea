/**
 * What must hold in the outside world after every run, whatever went wrong in it. The rules look at the effects alone, and
 * know of no pair and no lesson.
 */
import { EFFECTS, type EffectKind } from "@durable-lessons/types";
import type { Effect } from "./effects.ts";
import { isFingerprint } from "./kept.ts";

export type { Effect } from "./effects.ts";

/** What each rule demands. */
export const RULES = {
  "charged-once": "no card is charged twice for one order",
  "refunds-within-charges": "refunds never exceed what was charged",
  "undone-leaves-nothing": "an order that fails leaves no charge, stock or parcel behind",
  "mailed-once": "nobody gets an email twice about one thing",
  "done-once": "nothing else is done twice either",
  "complete-means-all": "complete means that everything has happened",
  "no-means-no": "nothing is done that was not approved",
  "messages-are-kept": "a message is done, or stored where somebody finds it",
  "neighbours-are-served": "the other messages in a bad message's batch are done, once",
  "requests-are-answered": "a request gets no error while nothing is wrong",
  "bad-input-is-told": "an invalid request gets a 4xx, and has no effect",
  "comes-to-an-end": "a run ends",
} as const;

/** The name of a rule. */
export type Rule = keyof typeof RULES;

/** A rule that does not hold, and by what one sees it. */
export interface Broken {
  rule: Rule;
  /** In a few words: "card.charged 2 times for order 17". */
  saw: string;
}

/** How a run ended, as far as the rules look at it. */
export interface Outcome {
  /** `complete`, `errored`, `terminated`; anything else has not come to an end. */
  status: string;
  effects: readonly Effect[];
}

/** What can be taken back, and by what. */
const TAKEN_BACK: [EffectKind, EffectKind][] = [
  [EFFECTS.cardCharged, EFFECTS.cardRefunded],
  [EFFECTS.stockReserved, EFFECTS.stockReleased],
  [EFFECTS.parcelShipped, EFFECTS.parcelRecalled],
];
const BACK = new Set(TAKEN_BACK.map(([, back]) => back));
const MAIL = new Set<EffectKind>([EFFECTS.alertSent, EFFECTS.emailSent, EFFECTS.reminderSent]);
/** They change nothing for anybody: reading is no effect, and a decline is an answer. */
const HARMLESS = new Set<EffectKind>([EFFECTS.sourceRead, EFFECTS.cardDeclined]);

/** The rules that hold whatever a run was about, and however it ended. */
export function alwaysBroken({ effects }: Outcome): Broken[] {
  return [...chargedTwice(effects), ...refundedTooMuch(effects), ...doneTwice(effects)];
}

function chargedTwice(effects: readonly Effect[]): Broken[] {
  const charges = effects.filter(({ kind }) => kind === EFFECTS.cardCharged);
  return repeated(charges, ({ detail }) => String(field(detail, "orderId"))).map((saw) => ({
    rule: "charged-once",
    saw,
  }));
}

function refundedTooMuch(effects: readonly Effect[]): Broken[] {
  const left = new Map<string, number>();
  const broken: Broken[] = [];
  for (const { id, kind, detail } of effects) {
    if (kind === EFFECTS.cardCharged) left.set(id, Number(field(detail, "cents")));
    if (kind !== EFFECTS.cardRefunded) continue;
    const charge = field(detail, "chargeId") ?? "";
    const rest = (left.get(charge) ?? 0) - Number(field(detail, "cents"));
    left.set(charge, rest);
    if (rest < 0) {
      broken.push({ rule: "refunds-within-charges", saw: `${-rest} cents too many refunded` });
    }
  }
  return broken;
}

function doneTwice(effects: readonly Effect[]): Broken[] {
  const others = effects.filter(
    ({ kind }) => kind !== EFFECTS.cardCharged && !HARMLESS.has(kind) && !MAIL.has(kind),
  );
  const mails = effects.filter(({ kind }) => MAIL.has(kind));
  const matter = ({ detail }: Effect) =>
    JSON.stringify([field(detail, "to"), field(detail, "subject")]);
  const all = ({ detail }: Effect) => JSON.stringify(detail);
  return [
    ...repeated(mails, matter).map((saw): Broken => ({ rule: "mailed-once", saw })),
    ...repeated(others, all).map((saw): Broken => ({ rule: "done-once", saw })),
  ];
}

/** What is out and was not taken back, in words. */
export function stillOut(effects: readonly Effect[]): string[] {
  const count = (wanted: EffectKind, order: unknown) =>
    effects.filter(({ kind, detail }) => kind === wanted && orderOf(detail, effects) === order)
      .length;
  const orders = new Set(effects.map(({ detail }) => orderOf(detail, effects)));
  return TAKEN_BACK.flatMap(([done, back]) =>
    [...orders].flatMap((order) => {
      const [out, taken] = [count(done, order), count(back, order)];
      // A release gives back everything that an order holds.
      const isOut = done === EFFECTS.stockReserved ? out > 0 && taken === 0 : out > taken;
      return isOut ? [`${done}, and no ${back}`] : [];
    }),
  );
}

/**
 * What a run that ended by itself must have left: everything or, where it was undone or failed, nothing that can be taken
 * back.
 *
 * @param normal what a run leaves that nothing disturbs
 */
export function endedWrong({ status, effects }: Outcome, normal: readonly Effect[]): Broken[] {
  const out = stillOut(effects);
  if (status !== "complete") {
    return out.map((saw) => ({ rule: "undone-leaves-nothing", saw: `${status}: ${saw}` }));
  }
  const lacks = missing(effects, normal);
  if (lacks.length === 0) return [];
  // It has given up, in good order.
  if (out.length === 0 && effects.some(({ kind }) => BACK.has(kind))) return [];
  return [{ rule: "complete-means-all", saw: `complete without ${lacks.join(", ")}` }];
}

/** The effects, by kind, that a run has fewer of than one that nothing disturbs. */
export function missing(effects: readonly Effect[], normal: readonly Effect[]): string[] {
  const count = (list: readonly Effect[], wanted: EffectKind) =>
    list.filter(({ kind }) => kind === wanted).length;
  return [...new Set(normal.map(({ kind }) => kind))].flatMap((kind) => {
    const lacking = count(normal, kind) - count(effects, kind);
    return lacking > 0 && !HARMLESS.has(kind) ? [`${lacking} ${kind}`] : [];
  });
}

/** Kinds that happened for the same thing more than once, in words. */
function repeated(effects: readonly Effect[], subjectOf: (effect: Effect) => string): string[] {
  const same = Map.groupBy(effects, (effect) => `${effect.kind}|${subjectOf(effect)}`);
  return [...same.values()].flatMap(([first, ...more]) =>
    first && more.length > 0 ? [`${first.kind} ${more.length + 1} times${subjectIn(first)}`] : [],
  );
}

/** What an effect was about, in words: what is kept of it as it was. */
function subjectIn({ kind, detail }: Effect): string {
  if (kind === EFFECTS.cardCharged) return ` for order ${field(detail, "orderId")}`;
  if (MAIL.has(kind)) return ` to one address, "${field(detail, "subject")}"`;
  const readable = Object.entries(detail ?? {}).filter(([, value]) => !isFingerprint(value));
  return readable.length > 0 ? ` for ${JSON.stringify(Object.fromEntries(readable))}` : "";
}

/** The order that an effect belongs to: a refund names its charge only. */
function orderOf(detail: unknown, effects: readonly Effect[]): string | undefined {
  const order = field(detail, "orderId");
  if (order !== undefined) return order;
  const charge = field(detail, "chargeId");
  return field(effects.find(({ id }) => id === charge)?.detail, "orderId");
}

function field(value: unknown, name: string): string | undefined {
  const found: unknown =
    typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === "string" || typeof found === "number" ? String(found) : undefined;
}
