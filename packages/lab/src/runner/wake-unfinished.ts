import { WAKE_EVENT } from "@durable-lessons/types";

/** Where `wrangler dev` answers for its Workflows, as it does for `wrangler workflows … --local` (wrangler 4.156.2). */
const API = "/cdn-cgi/local/explorer/api/workflows";
const PAGE = 100;

/** What the local engine says of an instance that it would go on with, if it were loaded. */
const UNFINISHED = new Set(["queued", "running", "waiting", "rollingBack", "waitingForPause"]);

/** Instances of one Workflow that were woken. */
export interface Woken {
  workflow: string;
  ids: string[];
}

/**
 * Wakes all instances that are not over: after a restart of workerd, which a changed file causes as well as a crash, the local
 * engine loads none by itself, as production does. Any event does it, and no step waits for this one.
 *
 * @param origin where `wrangler dev` listens
 * @param workflows whose instances, by the Workflow's name
 */
export async function wakeUnfinished(
  origin: string,
  workflows: readonly string[],
): Promise<Woken[]> {
  return Promise.all(
    workflows.map(async (workflow) => {
      const instances = `${origin}${API}/${encodeURIComponent(workflow)}/instances`;
      const ids = await unfinishedOf(instances);
      for (const id of ids) {
        const path = `${instances}/${encodeURIComponent(id)}/events/${WAKE_EVENT}`;
        const { ok, status } = await fetch(path, { method: "POST", body: "null" });
        if (!ok) throw new Error(`${workflow}: the instance ${id} cannot be woken: ${status}`);
      }
      return { workflow, ids };
    }),
  );
}

async function unfinishedOf(instances: string): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const response = await fetch(`${instances}?page=${page}&per_page=${PAGE}`);
    if (!response.ok) throw new Error(`${instances} answered ${response.status}`);
    const { result }: { result: { id: string; status: string }[] } = await response.json();
    ids.push(...result.filter(({ status }) => UNFINISHED.has(status)).map(({ id }) => id));
    if (result.length < PAGE) return ids;
  }
}
