/** A crash at every point of the Workflow that a step can be cut at. The real SIGKILL is in test/node. */
import { introspectWorkflowInstance } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { untilOver } from "@durable-lessons/test-kit";
import { crashOnce, POINTS, repeated, revive } from "@durable-lessons/test-kit/crash";
import { afterEach, describe, expect, test, vi } from "vitest";
import { DraftWorkflow } from "../../src/index.ts";
import type { DraftRequest } from "../../src/schemas.ts";
import {
  decide,
  evidence,
  idOf,
  mailedLink,
  newDraft,
  PUBLISHED,
  rowOf,
  send,
  start,
} from "./helpers.ts";

const ANSWERED = [
  "generate draft",
  "store draft",
  "mail reviewer",
  "wait for review",
  "close review",
  "publish article",
];
const SILENT = [
  "generate draft",
  "store draft",
  "mail reviewer",
  "wait for review",
  "start reminder",
  "remind reviewer",
  "wait once more",
  "close review",
];
afterEach(() => vi.restoreAllMocks());

const approve = async (draft: DraftRequest) =>
  expect((await decide(await mailedLink(draft), "approve")).status).toBe(200);

const pointsOf = (steps: string[]) =>
  steps
    .flatMap((name) => POINTS.map((point) => [point, name] as const))
    // A wait has no callback to die in, and the engine of this pool outlives the crash, and so does its half of a wait.
    .filter(([point, name]) => !(point === "during" && name.startsWith("wait")));

describe("one model call, one mail and one article after a crash", () => {
  test.each(pointsOf(ANSWERED))("%s step %j", async (point, name) => {
    const log = crashOnce(DraftWorkflow, name, point);
    const { draft, instance } = await start();
    const afterReview =
      ANSWERED.indexOf(name) > 3 || (name === "wait for review" && point === "after");
    if (afterReview) await approve(draft);
    await revive(log, instance);
    if (!afterReview) await approve(draft);

    const { sha256, text } = await rowOf(draft);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published", sha256 } });
    expect(await evidence(draft)).toEqual(PUBLISHED);
    expect((await send("GET", `/articles/${draft.draftId}`)).text).toBe(text);
    // What was finished was not run again; what was under way was.
    expect(repeated(log)).toEqual(point === "during" ? [name] : []);
  });
});

describe("one mail and one reminder after a crash, where nobody answers", () => {
  test.each(pointsOf(SILENT))("%s step %j", async (point, name) => {
    const draft = newDraft();
    await using introspector = await introspectWorkflowInstance(env.DRAFTS, idOf(draft));
    await introspector.modify(async (modifier) => {
      await modifier.forceEventTimeout({ name: "wait for review" });
      await modifier.forceEventTimeout({ name: "wait once more" });
    });
    const log = crashOnce(DraftWorkflow, name, point);
    const { instance } = await start({}, draft);
    await revive(log, instance);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "closed" } });
    expect(await evidence(draft)).toEqual({
      "email.sent": 1,
      "model.called": 1,
      "reminder.sent": 1,
    });
    // What was finished was not run again; what was under way was.
    expect(repeated(log)).toEqual(point === "during" ? [name] : []);
  });
});
