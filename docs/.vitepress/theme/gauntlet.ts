/** What a page shows of a pair's gauntlet. Recorded grids and live ones are made by the same code. */
import { type Exception, type Variant, VARIANTS } from "@durable-lessons/lab";
import type { GauntletResult } from "@durable-lessons/lab/runner";
import type { Broken } from "@durable-lessons/outside-world/rules";

/** One trial of one side: the rules that it broke, or none where the side bears it. */
export interface GridTrial {
  trial: string;
  broken: Broken[];
}

/** A pair's trials, in the order in which they were planned. */
export type Grid = Record<Variant, GridTrial[]>;

/** What the fix of a pair came to. */
export interface GridCount {
  trials: number;
  borne: number;
  /** Those of the others that the pair tells of. */
  told: number;
}

/** A trial in the table: a side that has no such trial has no cell. */
interface GridRow<Told> {
  trial: string;
  cells: Record<Variant, GridCell<Told> | null>;
}

/** What one side shows: the exception, where the pair tells of it, and whatever broke beside. */
interface GridCell<Told> {
  told: Told | null;
  broken: Broken[];
}

/** Which rule breaks in which trial, as a pair tells it. */
type Named = Pick<Exception, "breaks" | "trial">;

/** Takes out of the lab's results what a page shows. */
export function gridOf(results: readonly GauntletResult[]): Grid {
  const side = (variant: Variant) =>
    (results.find((result) => result.variant === variant)?.trials ?? []).map(
      ({ trial, broken }): GridTrial => ({
        trial,
        broken: broken.map(({ rule, saw }) => ({ rule, saw: withoutIds(saw) })),
      }),
    );
  return { pitfall: side("pitfall"), fix: side("fix") };
}

const RUN_ID = /\b[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}){0,2}(?:-[0-9a-f]{12})?\b/g;
const EFFECT_ID = /\b([a-z]+_[a-z]+)_\d+\b/g;

/** Names a run, and the number of an effect, by what they are: the ids themselves are others each time. */
export const withoutIds = (saw: string): string =>
  saw.replaceAll(RUN_ID, "RUN").replaceAll(EFFECT_ID, "$1_N");

/**
 * The table of a grid.
 *
 * @param exceptions what the pair tells of its fix
 */
export function gridRows<Told extends Named>(
  grid: Grid,
  exceptions: readonly Told[],
): GridRow<Told>[] {
  const names = new Set(VARIANTS.flatMap((variant) => grid[variant].map(({ trial }) => trial)));
  const cell = (variant: Variant, name: string): GridCell<Told> | null => {
    const found = grid[variant].find(({ trial }) => trial === name);
    if (!found) return null;
    const exception = variant === "fix" ? exceptionOf(found, exceptions) : undefined;
    return {
      told: exception ?? null,
      broken: found.broken.filter(({ rule }) => rule !== exception?.breaks),
    };
  };
  return [...names].map((trial) => ({
    trial,
    cells: { pitfall: cell("pitfall", trial), fix: cell("fix", trial) },
  }));
}

/** Counts what the fix bears, and what its pair tells of. */
export function countOf({ fix }: Grid, exceptions: readonly Named[]): GridCount {
  return {
    trials: fix.length,
    borne: fix.filter(({ broken }) => broken.length === 0).length,
    told: fix.filter((one) => exceptionOf(one, exceptions)).length,
  };
}

const exceptionOf = <Told extends Named>(
  { trial, broken }: GridTrial,
  exceptions: readonly Told[],
): Told | undefined =>
  exceptions.find(
    (told) => told.trial === trial && broken.some(({ rule }) => rule === told.breaks),
  );

/** How the catalogue can be sorted. */
export const ORDERS = ["reading", "borne", "not-borne"] as const;

/** In reading order; by how many trials the fix bears; by how many it does not. Most first. */
export type Order = (typeof ORDERS)[number];

/** Sorts pairs; those that are alike, and those of which nothing is recorded, stay in reading order, the latter last. */
export function sorted<Entry extends { gauntlet: GridCount | null }>(
  entries: readonly Entry[],
  order: Order,
): Entry[] {
  if (order === "reading") return [...entries];
  const rank = ({ gauntlet }: Entry) => {
    if (!gauntlet) return -1;
    return order === "borne" ? gauntlet.borne : gauntlet.trials - gauntlet.borne;
  };
  return entries.toSorted((one, other) => rank(other) - rank(one));
}
