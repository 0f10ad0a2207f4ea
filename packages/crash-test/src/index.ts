export { type BuildProblem, buildProblems } from "./build-problems.ts";
export { TimeLimitError, within } from "./time-limit.ts";
export {
  type CrashReport,
  type LogLine,
  type Request,
  Runtime,
  type RuntimeOptions,
  type WorkerInput,
} from "./runtime.ts";
