export { meetFault } from "./call.ts";
export { type Fault, type FaultScript, type Operation, ProviderError } from "./faults.ts";
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
  countEffects,
  type Effect,
  effectsOf,
  type Evidence,
  hangingCalls,
  marksOf,
  type Observation,
  observationsOf,
  observe,
  openRun,
  readRun,
  recordRun,
  type RunRecord,
  scriptFaults,
} from "./runs.ts";
