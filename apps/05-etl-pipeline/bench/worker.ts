/** What `pnpm bench` measures: the lesson's own functions without their Workflow, and the whole file at once. */
import { parse } from "csv-parse/sync";
import { incoming } from "../src/files.ts";
import { listPage } from "../src/list-files.ts";
import { loadFile } from "../src/load.ts";
import { readSale } from "../src/sale.ts";
import { transformFile } from "../src/transform.ts";

const DAY = "2026-11-28";
const FILE = "large.csv";

type Bindings = Pick<Env, "DB" | "FILES">;

async function transform(env: Env) {
  const { files } = await listPage(env, DAY, null);
  const [source] = files;
  if (!source) throw new Error("There is no file.");
  return { source, result: await transformFile(env, DAY, source) };
}

const WAYS: Record<string, (env: Env) => Promise<number>> = {
  async transform(env) {
    const { result } = await transform(env);
    return result.state === "transformed" ? result.rows : 0;
  },

  async load(env) {
    const { source, result } = await transform(env);
    if (result.state !== "transformed") return 0;
    return (await loadFile(env, DAY, source, result.rows)).rows;
  },

  async "whole-file"(env) {
    const text = (await (await env.FILES.get(incoming(DAY) + FILE))?.text()) ?? "";
    const [, ...rows]: string[][] = parse(text);
    const sales = rows.map((fields, nth) => ({ line: nth + 2, sale: readSale(fields, DAY) }));
    await env.FILES.put("staged/whole.json", JSON.stringify(sales));
    return sales.length;
  },
};

export default {
  async fetch(request, env) {
    const way = new URL(request.url).pathname.slice(1);
    if (request.method === "PUT") {
      await env.FILES.put(incoming(DAY) + FILE, request.body);
      return new Response();
    }
    const work = WAYS[way];
    if (!work) return new Response("There is no such way.", { status: 404 });
    // The lesson's functions take the lesson's whole `Env`, and use these two bindings of it.
    return Response.json({ rows: await work(env as Env) });
  },
} satisfies ExportedHandler<Bindings>;
