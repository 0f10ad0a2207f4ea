import { Hono } from "hono";
import type { LabBindings, LabMessage, RunnablePair } from "./env.ts";
import { BOOT_PATH, bootId } from "./boot.ts";
import { refusal } from "../guard.ts";
import { consumePitfalls } from "./queue.ts";
import { pitfallRoutes } from "./routes.ts";
import { pitfallWorkflow } from "./workflow.ts";

/** The bindings of the lab's Worker beside those that the variants use. */
interface LabEnv extends LabBindings {
  /** The Worker of the lesson that answers requests, where it runs too. */
  LESSON?: Fetcher;
  /** The Worker of the lesson that has crons, if there is one. */
  CRON?: { scheduled(event: { scheduledTime: Date; cron: string }): Promise<unknown> };
}

/**
 * The lab's Worker: runs pairs and, where the lesson runs too, hands everything else to it. Of several Workers only the
 * first is reachable from outside, so this is the first one, and the lesson knows nothing of it. Both answer this machine's
 * programs and their own pages only: see {@link refusal}.
 *
 * @param whatToTry what `GET /` says where the lesson has nothing there, and always to `accept: text/plain`
 * @returns the exports of its entry module: the class that the binding `PITFALLS` names, and the handlers
 */
export function labWorker(
  pairs: readonly RunnablePair<LabEnv>[],
  whatToTry?: (origin: string, now: number) => string,
) {
  const app = new Hono<{ Bindings: LabEnv }>();
  // It stands before the lesson too, which has a reader's data and has no guard where it is deployed: there it has no lab.
  app.use(async (c, next) => {
    const { host } = new URL(c.req.url);
    const refused = refusal({ method: c.req.method, headers: { ...c.req.header(), host } });
    return refused ? c.json({ error: refused.error }, refused.status) : next();
  });
  app.route("/pitfalls", pitfallRoutes(pairs));
  app.all("/pitfalls/*", (c) =>
    c.json({ error: `The lab has nothing at ${c.req.method} ${c.req.path}.` }, 404),
  );
  app.get("/", async (c, next) => {
    if (!whatToTry) return next();
    const isText = c.req.header("accept") === "text/plain";
    const page = isText ? null : await c.env.LESSON?.fetch(c.req.raw);
    return page && page.status !== 404
      ? page
      : c.text(whatToTry(new URL(c.req.url).origin, Date.now()));
  });
  app.get(BOOT_PATH, (c) => c.text(bootId()));
  app.all("*", (c) => c.env.LESSON?.fetch(c.req.raw) ?? c.notFound());

  const handlers: ExportedHandler<LabEnv, LabMessage> = {
    fetch: app.fetch,
    queue: (batch, env) => consumePitfalls(pairs, batch, env),
    // `/cdn-cgi/local/scheduled` asks the first Worker.
    async scheduled({ scheduledTime, cron }, env) {
      await env.CRON?.scheduled({ scheduledTime: new Date(scheduledTime), cron });
    },
  };
  return { PitfallWorkflow: pitfallWorkflow(pairs), handlers };
}
