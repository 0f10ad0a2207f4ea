export { missingInLesson, missingOf, unlistedPairs } from "./missing.ts";
export { type PairRow, pairRows, wrongEvidence } from "./pair-table.ts";
