export { type CompareOptions, comparePairs } from "./compare.ts";
export {
  type BrokenPair,
  findLessons,
  type Lesson,
  type LessonFolder,
  readLesson,
  readLessons,
  select,
  type Selection,
  UnknownNameError,
} from "./lessons.ts";
export type {
  CrashTimes,
  Mark,
  PairResult,
  ThrownError,
  UnreadablePair,
  PlatformEvent,
  Progress,
  RunSnapshot,
  VariantResult,
} from "./progress.ts";
export type { CrashReport } from "@durable-lessons/crash-test";
export { LessonRuntime } from "./runtime.ts";
export { LessonSession, type SessionOptions } from "./session.ts";
