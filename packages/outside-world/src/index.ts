export type { Effect } from "./effects.ts";
export { meetFault, neverAnswer } from "./call.ts";
export { type Fault, type FaultScript, type Operation, ProviderError } from "./faults.ts";
export { fingerprintOf, keptOf } from "./kept.ts";
export {
  type ChargeResult,
  type Email,
  type Keyed,
  outsideWorld,
  type OutsideWorld,
  type StockLine,
  type WorldBindings,
} from "./providers.ts";
export type { ModelAnswer, ModelInput } from "./stand-in.ts";
export {
  type Call,
  callsOf,
  countEffects,
  effectsOf,
  type Evidence,
  evidenceByRun,
  evidenceOf,
  forgetHangs,
  hangingCalls,
  hangsByRun,
  marksOf,
  type Observation,
  observationsOf,
  observe,
  openRun,
  readRun,
  recordRun,
  type RunRecord,
  scriptFaults,
  scriptManyRuns,
  sweepWorld,
} from "./runs.ts";
