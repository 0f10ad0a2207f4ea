export type {
  LabBindings,
  LabMessage,
  PitfallParams,
  RequestContext,
  RunnablePair,
  VariantEnv,
} from "./env.ts";
export { consumePitfalls, LAB_QUEUE_PREFIX } from "./queue.ts";
export { pitfallRoutes } from "./routes.ts";
export { pitfallWorkflow } from "./workflow.ts";
