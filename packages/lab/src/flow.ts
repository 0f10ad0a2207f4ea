/** What a lesson says of its own Workflows and consumers, so that the gauntlet can start them by their own routes. */
import type { Exception } from "./pair.ts";

/** A lesson that runs, as a client and the lab see it. */
export interface RunningLesson {
  /** A JSON request to the Worker that answers requests. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** The bindings of a Worker, of the first one unless named: those of the process that is alive. */
  env<Bindings>(worker?: string): Promise<Bindings>;
}

/** One thing that a lesson does, from its request to its end. */
export interface Flow {
  /** In two or three words: "an order". */
  name: string;
  /** The run's name in the outside world; of a Workflow, that is its instance's id. */
  runOf(id: string): Promise<string> | string;
  /** The Worker that has the binding `WORLD`, the first one unless named. */
  worker?: string;
  /** The binding of its Workflow. Without one it says itself how it stands, and how it is woken. */
  workflow?: string;
  /** Asks for it, as a client does. */
  start(lesson: RunningLesson, id: string): Promise<Response>;
  /** Does what people do for it, and again and again: reviews it, if it is time. */
  tend?(lesson: RunningLesson, id: string, says: "no" | "yes"): Promise<void>;
  /** How it stands: `complete`, `errored`, or anything else while it goes on. */
  statusOf?(lesson: RunningLesson, id: string): Promise<string>;
  /** Brings back what died with the runtime, and lets the time pass until it may go on. */
  wake?(lesson: RunningLesson, id: string): Promise<void>;
  /** What it does not bear. `cure` is what an operator does. */
  exceptions?: Exception[];
}

/** The default export of a lesson's `gauntlet.ts`. */
export interface LessonFlows {
  /** In the place of those in its configuration: short times, and tokens. */
  vars?: Record<string, number | string>;
  flows: Flow[];
}
