import { introspectWorkflowInstance } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { isAlreadyExists } from "../src/already-exists.ts";
import { createInstanceOnce } from "../src/index.ts";

describe("createInstanceOnce", () => {
  it("creates an instance with its params", async () => {
    const id = crypto.randomUUID();
    await using introspector = await introspectWorkflowInstance(env.GREET, id);
    const { instance, created } = await createInstanceOnce(env.GREET, {
      id,
      params: { name: "Ada" },
    });
    expect(created).toBe(true);
    expect(instance.id).toBe(id);
    await introspector.waitForStatus("complete");
    expect(await introspector.getOutput()).toBe("hello Ada");
  });

  it("returns the instance that is there, with the params it has", async () => {
    const id = crypto.randomUUID();
    await using introspector = await introspectWorkflowInstance(env.GREET, id);
    await createInstanceOnce(env.GREET, { id, params: { name: "Ada" } });
    const second = await createInstanceOnce(env.GREET, { id, params: { name: "Eve" } });
    expect(second.created).toBe(false);
    expect(second.instance.id).toBe(id);
    await introspector.waitForStatus("complete");
    expect((await second.instance.status()).output).toBe("hello Ada");
  });

  it("throws what else create throws", async () => {
    const params = { name: "Ada" };
    await expect(createInstanceOnce(env.GREET, { id: "not valid", params })).rejects.toThrow(
      "invalid id",
    );
    await expect(
      createInstanceOnce(env.GREET, { id: "(instance.already_exists)", params }),
    ).rejects.toThrow("invalid id");
  });
});

describe("isAlreadyExists", () => {
  it.each([
    ["(instance.already_exists) Instance already exists", true],
    ["(instance.already_exists)", true],
    ["WorkflowError: (instance.already_exists) Instance already exists", true],
    ["(instance.already_exists_elsewhere) Instance already exists", false],
    ["(instance.already_exists)_elsewhere", false],
    ["(workflow.not_found) not (instance.already_exists)", false],
    ["instance.already_exists", false],
    ["instance already exists", false],
    ['Workflow instance with id "(instance.already_exists)" is invalid', false],
    ["(instanceXalready_exists) Instance already exists", false],
  ])("knows the platform's code and nothing like it: %s", (message, expected) => {
    expect(isAlreadyExists(new Error(message))).toBe(expected);
  });

  it("takes no text for an error", () => {
    expect(isAlreadyExists("(instance.already_exists) Instance already exists")).toBe(false);
  });
});
