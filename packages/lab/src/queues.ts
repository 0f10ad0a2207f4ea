/** The queues of the pairs: how the Worker and the runner, who makes its configuration, know of the same ones. */
import { type AnyVariant, type QueueSettings, sideOf, type Variant } from "./pair.ts";

/** A variant's own queue. */
export interface VariantQueue extends Required<QueueSettings> {
  /** The name of its binding. */
  binding: string;
  name: string;
  deadLetters: string;
}

/** What {@link queueOf} looks at in a pair. */
interface WithQueue {
  id: string;
  engine: string;
  queue?: QueueSettings | Record<Variant, QueueSettings>;
}

/** The ends of the names of dead letter queues. */
const DEAD_LETTERS = "-dlq";

/** Is this the name of a {@link VariantQueue.deadLetters}? */
export const isDeadLetterQueue = (name: string) => name.endsWith(DEAD_LETTERS);

/**
 * The queue of a variant, or null where its pair has none. The reader's own attempt has the settings of the fix.
 *
 * @param lane which of several alike, for runs that must not wait for each other
 */
export function queueOf(
  { id, engine, queue }: WithQueue,
  variant: AnyVariant,
  lane = 0,
): VariantQueue | null {
  if (engine !== "queue" && !queue) return null;
  const settings = queue && "pitfall" in queue ? queue[sideOf(variant)] : queue;
  const name = `lab-${id}-${variant}${lane === 0 ? "" : `-${lane}`}`;
  return {
    binding: name.toUpperCase().replaceAll("-", "_"),
    name,
    deadLetters: name + DEAD_LETTERS,
    batchSize: 10,
    batchTimeout: 0,
    retries: 3,
    ...settings,
  };
}
