export type {
  LabBindings,
  LabMessage,
  PitfallParams,
  RequestContext,
  RunnablePair,
  VariantEnv,
} from "./env.ts";
export { labWorker } from "./lab.ts";
