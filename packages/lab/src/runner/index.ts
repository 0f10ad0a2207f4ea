export { type CompareOptions, compareOn, comparePairs } from "./compare.ts";
export { findLessons, type Lesson, select, type Selection, UnknownNameError } from "./lessons.ts";
export type { PairResult, Progress, VariantResult } from "./progress.ts";
export { type CrashReport, LessonRuntime } from "./runtime.ts";
