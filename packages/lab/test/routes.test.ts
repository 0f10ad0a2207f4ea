import { fingerprintOf } from "@durable-lessons/outside-world";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { LessonRuntime } from "../src/runner/index.ts";
import { fixtureLesson, startFixture } from "./fixture.ts";

let runtime: LessonRuntime;
beforeAll(async () => {
  runtime = await startFixture();
});
afterAll(async () => {
  await runtime.close();
});

interface Answer {
  status: number;
  body: unknown;
  headers: Headers;
}

async function send(method: string, path: string): Promise<Answer> {
  const response = await runtime.fetch(`/pitfalls${path}`, { method });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  const body: unknown = isJson ? JSON.parse(text) : text;
  return { status: response.status, body, headers: response.headers };
}

/** Starts a run and returns its path below /pitfalls. */
async function start(pair: string): Promise<string> {
  const { status, body, headers } = await send("POST", `/${pair}`);
  expect({ status, body }).toEqual({
    status: 202,
    body: { run: expect.stringMatching(/^[\w-]+$/), startedAt: expect.any(Number) },
  });
  const { run } = body as { run: string };
  expect(headers.get("location")).toBe(`/pitfalls/${pair}/${run}`);
  return `/${pair}/${run}`;
}

const untilReport = (path: string, report: Record<string, unknown>) =>
  vi.waitFor(async () => expect((await send("GET", path)).body).toMatchObject(report), {
    timeout: 30_000,
  });

interface RunEvent {
  eventId: number;
  type: string;
  stepName?: string;
}

async function eventsOf(path: string): Promise<RunEvent[]> {
  const { status, body, headers } = await send("GET", path);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/x-ndjson");
  expect(body).toMatch(/\n$/);
  return String(body)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RunEvent);
}

describe("GET /pitfalls", () => {
  test("lists the pairs as data, in the order in which the runner reads them", async () => {
    const { status, body } = await send("GET", "");
    expect(status).toBe(200);
    const { pairs } = await fixtureLesson();
    // What JSON can carry of a pair: no `params`, `messages`, `body` and no variants.
    const expected = pairs.map(
      ({ id, title, claim, why, claims, engine, faults, disturb, expect: evidence }) => ({
        id,
        title,
        claim,
        why,
        claims,
        engine,
        expect: evidence,
        ...(faults && { faults }),
        ...(disturb && { disturb }),
      }),
    );
    expect(body).toEqual(expected);
  });
});

test.each(["", "[]", "{", '{"type":7}'])(
  "an event that is %j is refused, with its field",
  async (body) => {
    const path = await start("wait-without-an-end/pitfall");
    const response = await runtime.fetch(`/pitfalls${path}/event`, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(JSON.parse(await response.text())).toMatchObject({ field: "type" });
  },
);

describe("a run", () => {
  test("is reported with its status, its evidence and its effects", async () => {
    const path = await start("restart-from-a-step/fix");
    await untilReport(path, { status: "errored" });
    const run = path.split("/").at(-1) ?? "";
    expect((await send("GET", path)).body).toEqual({
      status: "errored",
      output: null,
      error: { name: expect.any(String), message: expect.stringContaining("[simulated]") },
      evidence: { "card.charged": 1 },
      observations: {},
      hanging: [],
      effects: [
        {
          id: expect.stringMatching(/^card_charged_\d+$/),
          kind: "card.charged",
          key: null,
          detail: { orderId: run, card: await fingerprintOf(run, "4242"), cents: 100 },
          names: [],
          at: expect.any(Number),
        },
      ],
    });
  });

  test("of the same pair has an id and evidence of its own", async () => {
    const [first, second] = await Promise.all([
      start("request-twice/pitfall"),
      start("request-twice/pitfall"),
    ]);
    expect(first).not.toBe(second);
    for (const path of [first, second]) {
      await untilReport(path, { status: "complete", evidence: { "email.sent": 2 } });
    }
  });

  test("does what its pair says when it is disturbed", async () => {
    const path = await start("restart-from-a-step/fix");
    await untilReport(path, { status: "errored" });
    expect(await send("POST", `${path}/disturb`)).toMatchObject({
      status: 200,
      body: { disturbed: 'restarted from "ship"' },
    });
    const evidence = { "card.charged": 1, "parcel.shipped": 1 };
    await untilReport(path, { status: "complete", evidence });
  });

  test.each(["message-twice/fix", "request-twice/fix", "crash-after-a-step/fix"])(
    "of %s has nothing to be disturbed with: 409",
    async (pair) => {
      const path = await start(pair);
      expect(await send("POST", `${path}/disturb`)).toMatchObject({
        status: 409,
        body: { error: "This pair has no restart and no event to send." },
      });
    },
  );

  test("that waits for an event can be ended, and only while it waits", async () => {
    const path = await start("wait-without-an-end/pitfall");
    await vi.waitFor(
      async () => expect(await send("POST", `${path}/end`)).toMatchObject({ status: 200 }),
      { timeout: 30_000 },
    );
    await untilReport(path, { status: "terminated", evidence: { "email.sent": 1 } });
    expect((await eventsOf(`${path}/events`)).at(-1)?.type).toBe("workflow_terminated");

    expect(await send("POST", `${path}/end`)).toMatchObject({
      status: 409,
      body: { error: "This run does not wait for an event." },
    });
    const other = await start("many-steps/fix");
    await untilReport(other, { status: "complete" });
    expect((await send("POST", `${other}/end`)).status).toBe(409);
    const without = await start("message-twice/fix");
    expect((await send("POST", `${without}/end`)).status).toBe(409);
  });

  test("has its steps counted once it is over, where its pair asks for that", async () => {
    const path = await start("many-steps/pitfall");
    await untilReport(path, { status: "complete" });
    expect((await send("GET", path)).body).toMatchObject({
      evidence: { "email.sent": 3 },
      observations: { "workflow.step-started": 3 },
    });
  });

  test("that is over is left alone by a wake", async () => {
    const request = await start("request-twice/fix");
    const message = await start("message-twice/fix");
    await untilReport(request, { status: "complete" });
    await untilReport(message, { status: "complete" });
    expect((await send("POST", `${request}/wake`)).body).toEqual({
      woken: "every request has its answer",
    });
    expect((await send("POST", `${message}/wake`)).body).toEqual({
      woken: "sent 0 messages again",
    });
    await untilReport(request, { observations: { "workflow.created": 1 } });
    await untilReport(message, { observations: { "message.delivered": 2 } });
  });
});

describe("events", () => {
  test("are NDJSON up to the end of the run, and go on after a cursor", async () => {
    const path = await start("restart-from-a-step/fix");
    const events = await eventsOf(`${path}/events`);
    const steps = events.filter(({ stepName }) => stepName !== undefined);
    expect(steps.map(({ type, stepName }) => `${stepName} ${type}`)).toEqual([
      "charge-1 step_started",
      "charge-1 attempt_started",
      "charge-1 attempt_completed",
      "charge-1 step_completed",
      "ship-1 step_started",
      "ship-1 attempt_started",
      "ship-1 attempt_errored",
      "ship-1 step_errored",
    ]);
    expect(events.at(-1)?.type).toBe("workflow_errored");

    const middle = events[4]?.eventId;
    expect(await eventsOf(`${path}/events?cursor=${middle}`)).toEqual(events.slice(5));
    expect(await eventsOf(`${path}/events?cursor=0`)).toEqual(events);
  });

  test("come from the instances that a request started", async () => {
    const path = await start("request-twice/pitfall");
    await untilReport(path, { status: "complete" });
    const types = (await eventsOf(`${path}/events`)).map(({ type }) => type);
    expect(types.filter((type) => type === "workflow_completed")).toHaveLength(2);
  });

  test("are none where nothing starts an instance", async () => {
    const path = await start("message-twice/fix");
    expect(await send("GET", `${path}/events`)).toMatchObject({ status: 200, body: "" });
  });

  test.each(["-1", "1.5", "abc", "NaN", "Infinity", "9007199254740992", "1,2"])(
    "after the cursor %s: 400 that names the field",
    async (cursor) => {
      const path = await start("message-twice/fix");
      expect(await send("GET", `${path}/events?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { field: "cursor", error: expect.stringContaining("cursor") },
      });
    },
  );
});

describe("what there is not", () => {
  const RUN_ROUTES = [
    ["GET", ""],
    ["GET", "/events"],
    ["POST", "/wake"],
    ["POST", "/disturb"],
    ["POST", "/end"],
  ] as const;

  test.each([
    "/nope/fix",
    "/message-twice/nope",
    "/message-twice/constructor",
    "/__proto__/fix",
    "/message-twice%2Ffix/fix",
    "/MESSAGE-TWICE/fix",
  ])("POST %s: 404 that lists the pairs and variants", async (path) => {
    expect(await send("POST", path)).toMatchObject({
      status: 404,
      body: {
        error: "No such pair or variant.",
        pairs: expect.arrayContaining(["message-twice"]),
        variants: ["pitfall", "fix"],
      },
    });
  });

  test("a run of one pair or variant is none of another", async () => {
    const path = await start("message-twice/fix");
    const run = path.split("/").at(-1);
    expect((await send("GET", path)).status).toBe(200);
    for (const other of ["message-twice/pitfall", "request-twice/fix", "event-twice/fix"]) {
      for (const [method, route] of RUN_ROUTES) {
        const answer = await send(method, `/${other}/${run}${route}`);
        expect(answer, `${method} /${other}/…${route}`).toMatchObject({
          status: 404,
          body: { error: "No such run of this pair and variant." },
        });
      }
    }
  });

  test.each(RUN_ROUTES)("%s of an unknown run%s: 404", async (method, route) => {
    for (const run of ["nope", "0", "%00", "'%20OR%201=1", "%F0%9F%92%8C", "x".repeat(2000)]) {
      expect(await send(method, `/message-twice/fix/${run}${route}`), run).toMatchObject({
        status: 404,
        body: { error: "No such run of this pair and variant." },
      });
    }
    expect(await send(method, `/nope/fix/run${route}`)).toMatchObject({
      status: 404,
      body: { error: "No such pair or variant." },
    });
  });

  test.each([
    ["POST", ""],
    ["DELETE", ""],
    ["PUT", "/message-twice/fix"],
    ["GET", "/message-twice/fix"],
    ["GET", "/message-twice"],
    ["POST", "/message-twice"],
    ["DELETE", "/message-twice/fix/RUN"],
    ["POST", "/message-twice/fix/RUN"],
    ["POST", "/message-twice/fix/RUN/events"],
    ["GET", "/message-twice/fix/RUN/wake"],
    ["GET", "/message-twice/fix/RUN/disturb"],
    ["POST", "/message-twice/fix/RUN/nope"],
    ["POST", "/message-twice/fix/RUN/wake/more"],
    ["POST", "/message-twice/fix/"],
  ])("%s /pitfalls%s is no route: 404", async (method, path) => {
    const run = path.includes("RUN") ? (await start("message-twice/fix")).split("/").at(-1) : "";
    expect((await send(method, path.replace("RUN", run ?? ""))).status).toBe(404);
  });
});
