export { linkAbort } from "./channel.ts";
export { type CompareOptions, comparePairs } from "./compare.ts";
export {
  type BrokenPair,
  findLessons,
  type Lesson,
  type LessonFolder,
  nameOfPair,
  readLesson,
  readLessons,
  select,
  type Selection,
  UnknownNameError,
} from "./lessons.ts";
export {
  type GauntletOptions,
  type GauntletProgress,
  type GauntletResult,
  runGauntlet,
  type TrialResult,
} from "./gauntlet.ts";
export type {
  CrashTimes,
  PairResult,
  ThrownError,
  UnreadablePair,
  PlatformEvent,
  Progress,
  RunSnapshot,
  VariantResult,
} from "./progress.ts";
export { readFlows } from "./flows.ts";
export { lessonConfigs } from "./lesson-configs.ts";
export type { CrashReport } from "@durable-lessons/crash-test";
export type { Mark } from "@durable-lessons/types";
export { LessonRuntime } from "./runtime.ts";
export { LessonSession, type SessionOptions } from "./session.ts";
