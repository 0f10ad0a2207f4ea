import { Runtime, type WorkerInput } from "@durable-lessons/crash-test";
import { lessonConfigs } from "./lesson-configs.ts";

/** Values of the `vars` of a lesson's configuration. */
type LessonVars = Record<string, number | string>;

/** A lesson's Workers on a workerd of their own. */
export type LessonRuntime = Runtime;

export const LessonRuntime = {
  /**
   * Starts the Workers of a folder with the lab on and every D1 migration applied: see {@link lessonConfigs}.
   *
   * @param dir absolute path of the lesson
   * @param vars in the place of those in its configuration: shorter times, for a test
   */
  async start(
    lesson: string | { dir: string },
    _pairs: unknown = [],
    vars: LessonVars = {},
  ): Promise<Runtime> {
    const dir = typeof lesson === "string" ? lesson : lesson.dir;
    const configs = await lessonConfigs(dir);
    const workers: WorkerInput[] = configs.map(({ file }) => ({
      configPath: file,
      vars: { LAB: "on", ...vars },
    }));
    return Runtime.start({ root: dir, workers });
  },
};
