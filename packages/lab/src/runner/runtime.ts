import { basename } from "node:path";
import { Runtime } from "@durable-lessons/crash-test";
import type { Pair } from "../pair.ts";
import { labWorkers, type LessonVars, lessonWorkers } from "./lab-worker.ts";

/** A lesson's Workers on a workerd of their own. */
export type LessonRuntime = Runtime;

export const LessonRuntime = {
  /**
   * Starts the Workers of a folder with every D1 migration applied: see {@link lessonWorkers}.
   *
   * @param dir absolute path of the lesson
   * @param vars in the place of those in its configuration: shorter times, for a test
   * @param pairs to run in the lab, which then answers in front of the lesson: see {@link labWorkers}
   */
  async start(dir: string, vars: LessonVars = {}, pairs?: readonly Pair[]): Promise<Runtime> {
    if (!pairs) return Runtime.start({ root: dir, workers: await lessonWorkers(dir, vars) });
    const { workers, close } = await labWorkers({ id: basename(dir), dir }, pairs, vars);
    return Runtime.start({ root: dir, workers, onClose: close });
  },
};
