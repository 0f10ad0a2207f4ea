import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createInstancesOnce, instanceIdFor } from "../src/index.ts";
import { newKey } from "./helpers.ts";
import type { GreetParams } from "./worker.ts";

function greetings(count: number, name = "Ada") {
  return Array.from({ length: count }, () => ({ id: newKey(), params: { name } }));
}

async function started(ids: string[]): Promise<number> {
  const found = await Promise.allSettled(ids.map((id) => env.GREET.get(id)));
  return found.filter(({ status }) => status === "fulfilled").length;
}

/** The real binding, and how many instances each call to it had. */
function counted(
  answer?: (
    call: number,
    result: Promise<WorkflowBatchCreateResult>,
  ) => Promise<WorkflowBatchCreateResult>,
) {
  const calls: number[] = [];
  const workflow = new Proxy(env.GREET, {
    get(target, property) {
      if (property !== "createBatch") return Reflect.get(target, property);
      return (options: { instances: WorkflowInstanceCreateOptions<GreetParams>[] }) => {
        calls.push(options.instances.length);
        const result = target.createBatch(options);
        return answer ? answer(calls.length, result) : result;
      };
    },
  });
  return { workflow, calls };
}

describe("createInstancesOnce", () => {
  it("starts more instances than one call takes, and a second time finds them all", async () => {
    const instances = greetings(201);
    const { workflow, calls } = counted();
    const first = await createInstancesOnce(workflow, instances);
    expect(first).toEqual(instances.map(({ id }) => ({ id, outcome: "created" })));
    expect(calls).toEqual([100, 100, 1]);
    const second = await createInstancesOnce(workflow, instances);
    expect(second).toEqual(instances.map(({ id }) => ({ id, outcome: "existing" })));
  });

  it("asks the platform nothing for no instances", async () => {
    const { workflow, calls } = counted();
    expect(await createInstancesOnce(workflow, [])).toEqual([]);
    expect(calls).toEqual([]);
  });

  it("divides by size as well, with one that is large by itself", async () => {
    const small = () => greetings(1, "x".repeat(150_000));
    const large = () => greetings(1, "x".repeat(500_000));
    const { workflow, calls } = counted();
    const outcomes = await createInstancesOnce(workflow, [
      ...small(),
      ...small(),
      ...small(),
      ...large(),
      ...small(),
      ...small(),
    ]);
    expect(calls).toEqual([2, 1, 1, 2]);
    expect(outcomes.every(({ outcome }) => outcome === "created")).toBe(true);
  });

  it("reports invalid ones one by one and starts the others", async () => {
    const [one, two, three] = greetings(3);
    if (!one || !two || !three) throw new Error("three were made");
    const outcomes = await createInstancesOnce(env.GREET as Workflow, [
      one,
      { id: "ada@example.org", params: { name: "Ada" } },
      two,
      { id: "x".repeat(101) },
      { id: newKey(), params: { name: () => "a function" } },
      { id: newKey(), params: { name: 1n } },
      three,
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "created",
      "failed",
      "created",
      "failed",
      "failed",
      "failed",
      "created",
    ]);
    expect(outcomes[1]).toMatchObject({ id: "ada@example.org", error: expect.any(TypeError) });
    expect(await started([one.id, two.id, three.id])).toBe(3);
  });

  it("reports those whose id is no text, and starts the others: one each, none for two", async () => {
    const [one, two] = greetings(2);
    if (!one || !two) throw new Error("two were made");
    const wrong = [undefined, null, 42, "", {}, { toString: 1 }].map((id) => ({
      id,
      params: one.params,
    }));
    const instances = JSON.parse(JSON.stringify([one, ...wrong, null, ...wrong, two]));
    const outcomes = await createInstancesOnce(env.GREET, instances);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "created",
      ...Array.from({ length: 13 }, () => "failed"),
      "created",
    ]);
    expect(outcomes.slice(1, 8).map(({ id }) => id)).toEqual([
      "undefined",
      "null",
      "42",
      "empty",
      "an object",
      "an object",
      "undefined",
    ]);
    expect(outcomes[1]).toMatchObject({
      error: { message: expect.stringContaining("it is undefined") },
    });
    expect(await started(["undefined", "42", "null"])).toBe(0);
  });

  it("takes an id that is twice in the list for the same instance", async () => {
    const [one, two] = greetings(2);
    if (!one || !two) throw new Error("two were made");
    const bad = { id: "not valid", params: one.params };
    const { workflow, calls } = counted();
    const outcomes = await createInstancesOnce(workflow, [one, two, one, bad, bad]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "created",
      "created",
      "existing",
      "failed",
      "failed",
    ]);
    expect(calls).toEqual([2]);
  });

  it("finds what was started when the answer was lost", async () => {
    const instances = greetings(3);
    const { workflow } = counted(async (call, result) => {
      const answer = await result;
      if (call === 1) throw new Error("[simulated] no answer");
      return answer;
    });
    const outcomes = await createInstancesOnce(workflow, instances);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["existing", "existing", "existing"]);
  });

  it("reports a chunk that fails for good and goes on with the next", async () => {
    const instances = greetings(101);
    const { workflow } = counted(async (call, result) => {
      const answer = await result;
      if (call <= 2) throw new Error("[simulated] no answer");
      return answer;
    });
    const outcomes = await createInstancesOnce(workflow, instances);
    expect(outcomes[0]).toMatchObject({
      outcome: "failed",
      error: { message: "[simulated] no answer" },
    });
    expect(outcomes[100]).toMatchObject({ outcome: "created" });
    // The failure was only of the answer: the second time all are there.
    const again = await createInstancesOnce(env.GREET, instances);
    expect(again.every(({ outcome }) => outcome === "existing")).toBe(true);
  });

  it("takes the ids that instanceIdFor makes", async () => {
    const id = await instanceIdFor("greet", newKey(), "ada@example.org");
    expect(await createInstancesOnce(env.GREET, [{ id }])).toEqual([{ id, outcome: "created" }]);
  });
});
