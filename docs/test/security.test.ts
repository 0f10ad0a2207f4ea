/** The table "Who may do what", and the command that holds the lessons to it. What it starts is in the soak test. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readLessons } from "@durable-lessons/lab/runner";
import { expect, test } from "vitest";
import { registeredRoutes, routesOf } from "../scripts/security.ts";

const docs = join(import.meta.dirname, "..");
const pageOf = (language: string) => readFile(join(docs, language, "deploy.md"), "utf8");
const lessons = await readLessons(join(docs, "../apps"));

test.for(lessons)("$id: every route stands in the table, and no other", async ({ id, dir }) => {
  const rows = routesOf(await pageOf(".")).filter(({ lesson }) => id.startsWith(lesson));
  const listed = rows.map(({ method, path }) => `${method} ${path}`);
  expect(listed.toSorted()).toEqual(await registeredRoutes(dir));
});

test("both languages say the same of each route", async () => {
  expect(routesOf(await pageOf("zh-TW"))).toEqual(routesOf(await pageOf(".")));
});

test("a cell that says nothing that is known is an error", () => {
  expect(() => routesOf("| 1 | `GET /a` | perhaps | nothing | nothing |")).toThrow(/perhaps/);
});
