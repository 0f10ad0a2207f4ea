/** `pnpm dev` in the lessons that have a Workflow of their own: a run that was under way goes on without a command. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { SOAKING } from "@durable-lessons/test-kit/soak";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { freePort, PATIENTLY, startDev } from "./lesson-dev.ts";
import { HAS_PROC } from "./processes.ts";

const LESSONS = join(import.meta.dirname, "../../../apps");
/** A run of some milliseconds may be over before the kill: then the next one is tried. */
const TRIES = 20;

let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(import.meta.dirname, ".tmp-"));
  await mkdir(join(temporary, "state"));
});
afterEach(() => rm(temporary, { recursive: true }));

interface Lesson {
  folder: string;
  workflow: string;
  options: string[];
  /** The request that starts run number n. */
  start: (n: number) => [path: string, body: object];
  runOf: (n: number) => string;
}

const TOKEN = "token-of-the-tests";
const lessons: Lesson[] = [
  {
    folder: "01-onboarding-workflow",
    workflow: "onboarding",
    options: [],
    start: (n) => ["/onboard", { userId: `ada-${n}`, email: "ada@example.com", planType: "pro" }],
    runOf: (n) => `onboard-ada--${n}`,
  },
  {
    folder: "02-order-workflow",
    workflow: "orders",
    // The review is not waited for: what shows that it goes on is that the order is taken back.
    options: ["--secret", `REVIEW_TOKEN=${TOKEN}`, "--var", "REVIEW_TIMEOUT=1 second"],
    start: (n) => [
      "/orders",
      {
        orderId: `o${n}`,
        email: "ada@example.com",
        card: "tok_visa",
        lines: [{ sku: "tea", quantity: 1 }],
      },
    ],
    runOf: (n) => `order-o${n}`,
  },
  {
    folder: "04-queue-to-workflow",
    workflow: "fulfilment",
    options: ["--secret", `OPERATOR_TOKEN=${TOKEN}`],
    start: (n) => [
      "/orders",
      { orderId: `o${n}`, card: "tok_visa", cents: 450, lines: [{ sku: "tea", quantity: 1 }] },
    ],
    runOf: (n) => `fulfil-o${n}`,
  },
  {
    folder: "05-etl-pipeline",
    workflow: "etl",
    options: ["--secret", `ETL_TOKEN=${TOKEN}`],
    start: (n) => ["/runs", { day: `2026-11-${String(n).padStart(2, "0")}` }],
    runOf: (n) => `etl-2026--11--${String(n).padStart(2, "0")}`,
  },
  {
    folder: "06-ai-review",
    workflow: "drafts",
    options: [
      "--secret",
      `DRAFT_TOKEN=${TOKEN}`,
      "--secret",
      "REVIEW_LINK_KEY=key-of-the-tests-key-of-the-tests-key",
      "--var",
      "REMIND_AFTER_SECONDS=1",
      "--var",
      "CLOSE_AFTER_SECONDS=1",
    ],
    start: (n) => [
      "/drafts",
      { draftId: `d${n}`, prompt: "Why is tea green?", reviewer: "bob@example.com" },
    ],
    runOf: (n) => `draft-d${n}`,
  },
];

test.skipIf(!SOAKING || !HAS_PROC).each(lessons)(
  "$folder",
  async ({ folder, workflow, options, start, runOf }) => {
    const lesson = join(LESSONS, folder);
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const begin = () =>
      startDev(lesson, port, temporary, ["--persist-to", join(temporary, "state"), ...options]);
    const statusOf = async (id: string) => {
      const path = `/cdn-cgi/local/explorer/api/workflows/${workflow}/instances/${id}`;
      const response = await fetch(origin + path).catch(() => null);
      if (!response?.ok) return undefined;
      const { result }: { result: { status: string } } = await response.json();
      return result.status;
    };

    let dev = begin();
    try {
      let run = "";
      for (
        let n = 1;
        n <= TRIES && !dev.output.includes(`Woke an unfinished run of ${workflow}`);
        n++
      ) {
        run = runOf(n);
        const [path, body] = start(n);
        await vi.waitFor(async () => {
          const response = await fetch(origin + path, {
            method: "POST",
            body: JSON.stringify(body),
            headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
          });
          expect(response.status).toBeLessThan(300);
        }, PATIENTLY);
        await vi.waitUntil(() => statusOf(run), { ...PATIENTLY, interval: 10 });
        dev.kill();
        await dev.stop();
        dev = begin();
        // Its words come before it wakes anybody.
        await dev.says("Local Explorer");
        await vi.waitUntil(
          async () =>
            dev.output.includes(`Woke an unfinished run of ${workflow}`) ||
            (await statusOf(run)) === "complete",
          PATIENTLY,
        );
      }
      expect(dev.output).toContain(`Woke an unfinished run of ${workflow}: ${run}`);
      await vi.waitFor(
        async () => expect(await statusOf(run)).toMatch(/^(complete|errored)$/),
        PATIENTLY,
      );
    } finally {
      await dev.stop();
    }
  },
  600_000,
);
