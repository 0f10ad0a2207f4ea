import { eventsSoFar } from "@durable-lessons/worker-helpers/instances";
import { type Context, Hono } from "hono";
import { stream } from "hono/streaming";
import { type AnyVariant, VARIANTS, YOURS } from "../pair.ts";
import type { LabBindings, RunnablePair } from "./env.ts";
import type { RunPlan } from "./run-record.ts";
import { Run } from "./runs.ts";
import { flushRunLog } from "./variant-code.ts";

/**
 * The routes of the lab, under `/pitfalls`:
 *
 * - `GET /`: the pairs, as data
 * - `POST /:pair/:variant`: starts a run; 202 with its id and start, and its address in `Location`. A JSON body may name
 *   other `faults` and another `disturb` than the pair does; `logged` makes it tell the driver what its code does
 * - `GET /:pair/:variant/:run`: `{ status, output, error, evidence, observations, hanging, effects }`
 * - `GET /:pair/:variant/:run/events`: the events of its Workflow instances as NDJSON, until they end; `?cursor=N`
 *   goes on after the event N, `?until=now` ends with the present
 * - `GET /:pair/:variant/:run/marks`: its effects and observations with their times, `[{ kind, detail, at }]`
 * - `GET /:pair/:variant/:run/ledger`: what a trial is judged by: `RunLedger`
 * - `POST /:pair/:variant/:run/event`: sends its instance the event `{ type, payload }`
 * - `POST /:pair/:variant/:run/wake`: brings back a run that died with the runtime
 * - `POST /:pair/:variant/:run/disturb`: restarts the instance, or sends it its event, as the pair says; 409 where it
 *   says neither
 * - `POST /:pair/:variant/:run/flush`: writes a line to the log, after everything that the run's code has written
 * - `POST /:pair/:variant/:run/end`: ends a run that waits for an event; 409 where it does not
 */
export function pitfallRoutes<Env extends LabBindings>(pairs: readonly RunnablePair<Env>[]) {
  type Lab = { Bindings: Env };
  const app = new Hono<Lab>();

  app.onError((error, c) => c.json({ error: `${error.name}: ${error.message}` }, 500));

  app.get("/", (c) => c.json(pairs.map(dataOf)));

  app.post("/:pair/:variant", async (c) => {
    const named = namedBy(c);
    if (!named) return unknownPair(c);
    const body = await c.req.text();
    const asked: Partial<RunPlan> | null = body === "" ? {} : jsonObject(body);
    if (!asked) {
      return c.json(
        { error: "The body must be empty or a JSON object: faults, disturb, logged." },
        400,
      );
    }
    const run = await Run.open(c.env, named.pair, named.variant, asked);
    await run.start(c.executionCtx);
    const location = `${c.req.path}/${run.id}`;
    return c.json({ run: run.id, startedAt: run.startedAt }, 202, { location });
  });

  app.get("/:pair/:variant/:run", async (c) => {
    const run = await found(c);
    if (!run) return unknownRun(c);
    return c.json(await run.report());
  });

  app.get("/:pair/:variant/:run/events", async (c) => {
    const run = await found(c);
    if (!run) return unknownRun(c);
    const cursor = Number(c.req.query("cursor") ?? 0);
    if (!Number.isSafeInteger(cursor) || cursor < 0) {
      return c.json({ error: "cursor must be a whole number of 0 or more", field: "cursor" }, 400);
    }
    const instances = await Promise.all(
      (await run.instanceIds()).map((id) => c.env.PITFALLS.get(id)),
    );
    c.header("content-type", "application/x-ndjson");
    if (c.req.query("until") === "now") {
      const events = (await Promise.all(instances.map(eventsSoFar))).flat();
      return c.body(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    }
    return stream(c, async (body) => {
      await Promise.all(
        instances.map(async (instance) => {
          using events = await instance.subscribe(cursor > 0 ? { cursor } : {});
          for (;;) {
            const { value, done } = await events.next();
            if (done || body.aborted) return;
            await body.writeln(JSON.stringify(value));
            if (isLast(value.type)) return;
          }
        }),
      );
    });
  });

  app.get("/:pair/:variant/:run/marks", async (c) => {
    const run = await found(c);
    return run ? c.json(await run.marks()) : unknownRun(c);
  });

  app.get("/:pair/:variant/:run/ledger", async (c) => {
    const run = await found(c);
    return run ? c.json(await run.ledger()) : unknownRun(c);
  });

  app.post("/:pair/:variant/:run/event", async (c) => {
    const run = await found(c);
    if (!run) return unknownRun(c);
    const { type, payload = null } = jsonObject(await c.req.text()) ?? {};
    if (typeof type !== "string") {
      return c.json(
        { error: "The body must be a JSON object: type, payload.", field: "type" },
        400,
      );
    }
    await run.sendEvent(type, payload);
    return c.json({ sent: type });
  });

  app.post("/:pair/:variant/:run/wake", async (c) => {
    const run = await found(c);
    if (!run) return unknownRun(c);
    return c.json({ woken: await run.wake(c.executionCtx) });
  });

  app.post("/:pair/:variant/:run/disturb", async (c) => {
    const run = await found(c);
    if (!run) return unknownRun(c);
    const disturbed = await run.disturb();
    if (!disturbed) return c.json({ error: "This pair has no restart and no event to send." }, 409);
    return c.json({ disturbed });
  });

  app.post("/:pair/:variant/:run/flush", async (c) => {
    const run = await found(c);
    if (!run) return unknownRun(c);
    flushRunLog(run.id);
    return c.json({ flushed: run.id });
  });

  app.post("/:pair/:variant/:run/end", async (c) => {
    const run = await found(c);
    if (!run) return unknownRun(c);
    if (!(await run.end())) return c.json({ error: "This run does not wait for an event." }, 409);
    return c.json({ ended: "waiting" });
  });

  return app;

  function namedBy(c: Context<Lab>): { pair: RunnablePair<Env>; variant: AnyVariant } | undefined {
    const pair = pairs.find(({ id }) => id === c.req.param("pair"));
    const variant = ([...VARIANTS, YOURS] as const).find((name) => name === c.req.param("variant"));
    return pair && variant && pair[variant] && { pair, variant };
  }

  async function found(c: Context<Lab>): Promise<Run<Env> | null> {
    const named = namedBy(c);
    return named ? Run.find(c.env, named.pair, named.variant, c.req.param("run") ?? "") : null;
  }

  function unknownPair(c: Context<Lab>) {
    const known = pairs.map(({ id }) => id);
    return c.json({ error: "No such pair or variant.", pairs: known, variants: VARIANTS }, 404);
  }

  async function unknownRun(c: Context<Lab>) {
    return namedBy(c)
      ? c.json({ error: "No such run of this pair and variant." }, 404)
      : unknownPair(c);
  }
}

/** The events after which an instance has no more, unless it is restarted. */
const isLast = (type: WorkflowInstanceEventType) =>
  type === "workflow_completed" || type === "workflow_errored" || type === "workflow_terminated";

/** Reads the body of a request; null where it is no JSON object. */
function jsonObject(body: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** A pair without its functions, as JSON can carry it. */
function dataOf({
  id,
  title,
  claim,
  why,
  claims,
  engine,
  faults,
  disturb,
  expect,
}: RunnablePair<never>) {
  return { id, title, claim, why, claims, engine, faults, disturb, expect };
}
