import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
import { clearStale } from "./clear-stale.ts";
import { type SourceFile, stepName } from "./files.ts";
import { listPage, type Page } from "./list-files.ts";
import { loadFile } from "./load.ts";
import { writeReport } from "./report.ts";
import { failRun, openRun } from "./runs.ts";
import type { EtlRun } from "./schemas.ts";
import { transformFile } from "./transform.ts";

/** Two steps a file, one for each page of the list and three more: together at most 10,000, which is a run's limit. */
const MAX_FILES = 4900;

/** Extract, transform, load: the files of one day become rows in D1, once, and a report. */
export class EtlWorkflow extends WorkflowEntrypoint<Env, EtlRun> {
  override async run(event: WorkflowEvent<EtlRun>, step: WorkflowStep) {
    const { env } = this;
    const { day } = event.payload;
    // Every step here is safe to repeat. Five retries bridge a few minutes, the timeout is for a file of 100 MB.
    const retryPolicy = {
      retries: { limit: 5, delay: env.RETRY_DELAY, backoff: "exponential" },
      timeout: "10 minutes",
    } as const;

    await step.do("open run", retryPolicy, () => openRun(env.DB, day), {
      // The reason is stored with the day: nobody is awake to see it.
      rollback: ({ error }) => failRun(env.DB, day, error.message),
      rollbackConfig: retryPolicy,
    });

    // Extract: the run's files are decided here. A later file needs a restart.
    const files: SourceFile[] = [];
    let page: Page | undefined;
    for (let nth = 1; page?.next !== null; nth++) {
      const after: string | null = page?.next ?? null;
      page = await step.do(`list files, page ${nth}`, retryPolicy, () => listPage(env, day, after));
      files.push(...page.files);
    }
    if (files.length > MAX_FILES) {
      throw new NonRetryableError(`More than ${MAX_FILES} files: combine several into one.`);
    }

    // Transform: from R2 to R2. The result is a count; the rows would not fit into a step's result.
    const staged: { source: SourceFile; rows: number }[] = [];
    for (const source of files) {
      const name = await stepName("transform", source);
      const result = await step.do(name, retryPolicy, () => transformFile(env, day, source));
      if (result.state === "transformed") staged.push({ source, rows: result.rows });
    }

    // Load: from R2 to D1. Only a file that fails is loaded again.
    await step.do("clear what is stale", retryPolicy, () => clearStale(env.DB, day));
    for (const { source, rows } of staged) {
      const name = await stepName("load", source);
      await step.do(name, retryPolicy, () => loadFile(env, day, source, rows));
    }

    return step.do("write report", retryPolicy, () => writeReport(env.DB, day));
  }
}
