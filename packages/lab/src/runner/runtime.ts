import { basename } from "node:path";
import { Runtime } from "@durable-lessons/crash-test";
import type { Pair } from "../pair.ts";
import { type Lanes, labWorker, type LessonVars, lessonWorkers } from "./lab-worker.ts";

/** A lesson's Workers on a workerd of their own. */
export type LessonRuntime = Runtime;

export const LessonRuntime = {
  /**
   * Starts the Workers of a folder, or the lab's in their place, with every D1 migration applied: see
   * {@link lessonWorkers} and {@link labWorker}.
   *
   * @param dir absolute path of the lesson
   * @param vars in the place of those in its configuration: shorter times, for a test
   * @param pairs to run in the lab
   * @param lanes how many queues each of their variants has
   */
  async start(
    dir: string,
    vars: LessonVars = {},
    pairs?: readonly Pair[],
    lanes: Lanes = {},
  ): Promise<Runtime> {
    if (!pairs) return Runtime.start({ root: dir, workers: await lessonWorkers(dir, vars) });
    const { worker, close } = await labWorker({ id: basename(dir), dir }, pairs, { vars, lanes });
    return Runtime.start({ root: dir, workers: [worker], onClose: close });
  },
};
