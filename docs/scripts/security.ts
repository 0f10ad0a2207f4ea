/**
 * What a stranger can do with a lesson as it is deployed, compared with the table "Who may do what" of the page "Deploying". The
 * lessons run without the lab, on a workerd of their own, first with no secret set and then with secrets.
 */
import { glob, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { lessonConfigs, LessonRuntime } from "@durable-lessons/lab/runner";

/** Who may call a route. */
export type Access =
  | { kind: "open"; more?: string }
  | { kind: "limited" }
  | { kind: "token"; token: string }
  | { kind: "link"; key: string }
  | { kind: "this machine"; token: string };

/** A row of the table. */
export interface RouteRow {
  /** The lesson's number: "02". */
  lesson: string;
  method: string;
  path: string;
  access: Access;
}

/** Something that is not as the table says. */
export interface Opening {
  lesson: string;
  route: string;
  what: string;
}

/** What an anonymous flood of one route was answered, by status. */
export interface Flood {
  lesson: string;
  route: string;
  statuses: Record<string, number>;
}

/**
 * Reads the table.
 *
 * @param page the Markdown of "Deploying", in either language
 * @throws Error with the line that cannot be read
 */
export function routesOf(page: string): RouteRow[] {
  const rows = [...page.matchAll(/^\| (\d) \| `([A-Z]+) (\/\S*)` \| ([^|]+) \|/gm)];
  return rows.map(([line, number = "", method = "", path = "", access = ""]) => ({
    lesson: `0${number}`,
    method,
    path,
    access: accessOf(access.trim(), line),
  }));
}

/** In the table "open", "limited", "`TOKEN`", "link, `KEY`", and "`TOKEN`, this machine"; likewise in Chinese. */
function accessOf(cell: string, line: string): Access {
  const [, name] = /`([A-Z_]+)`/.exec(cell) ?? [];
  if (/^(open|公開)/.test(cell)) return { kind: "open", ...(name ? { more: name } : {}) };
  if (/^(limited|限流)$/.test(cell)) return { kind: "limited" };
  if (name && /^(link|連結)/.test(cell)) return { kind: "link", key: name };
  if (name && /(this machine|本機)/.test(cell)) return { kind: "this machine", token: name };
  if (name && cell === `\`${name}\``) return { kind: "token", token: name };
  throw new Error(`Nobody can read who may call this route: ${line}`);
}

/** The routes that a lesson's code registers, as "GET /orders/:id", found in its source. */
export async function registeredRoutes(dir: string): Promise<string[]> {
  const routes: string[] = [];
  const mounts = new Map<string, string>();
  const sources = [];
  for await (const file of glob("src/*.ts", { cwd: dir })) {
    sources.push(await readFile(join(dir, file), "utf8"));
  }
  for (const source of sources) {
    for (const [, path = "", router = ""] of source.matchAll(/\.route\("([^"]+)", (\w+)\)/g)) {
      mounts.set(router, path);
    }
  }
  for (const source of sources) {
    for (const [, router = "", method = "", path = ""] of source.matchAll(
      /\b(\w+)\s*\.(get|post|put|patch|delete)\(\s*"(\/[^"]*)"/g,
    )) {
      const mounted = ((mounts.get(router) ?? "") + path).replace(/(.)\/$/, "$1");
      routes.push(`${method.toUpperCase()} ${mounted}`);
    }
  }
  return [...new Set(routes)].toSorted();
}

/** A value that a path can have in the place of its parameters. */
const exampleOf = (path: string) =>
  path.replace(":day", "2026-01-01").replace(":sku", "tea").replaceAll(/:\w+/g, "nobody");

/** Bodies that a limited route takes, each of another subject but for the one that is given. */
const BODIES: Record<string, (subject: string) => unknown> = {
  "01 POST /onboard": (email) => ({ userId: crypto.randomUUID(), email, planType: "free" }),
  "02 POST /orders": (email) => ({
    orderId: crypto.randomUUID(),
    email,
    card: "tok_visa",
    lines: [{ sku: "tea", quantity: 1 }],
  }),
  "03 POST /signup": (email) => ({ email }),
  "04 POST /orders": () => ({
    orderId: crypto.randomUUID(),
    card: "tok_visa",
    cents: 450,
    lines: [{ sku: "tea", quantity: 1 }],
  }),
};

/** Routes where each caller is one of many, and the subject of all of them is the same. */
const HAS_SUBJECT = new Set(["01 POST /onboard", "02 POST /orders", "03 POST /signup"]);

/** Something to look at that is there, so that it can be compared what is shown with a token and without. */
const EXAMPLES: Record<
  string,
  { start: string; look: (started: Record<string, string>) => string }
> = {
  "01 GET /status/:id": {
    start: "01 POST /onboard",
    look: ({ instanceId }) => `/status/${instanceId}`,
  },
  "02 GET /orders/:id": { start: "02 POST /orders", look: ({ orderId }) => `/orders/${orderId}` },
  "04 GET /orders/:id": { start: "04 POST /orders", look: ({ orderId }) => `/orders/${orderId}` },
};

const RIGHT = "a-right-token-of-32-characters-x";
const WRONG = "a-wrong-token-of-32-characters-x";
/** More than two limits of a minute let through: these requests may fall into two minutes of the clock. */
const MANY = 50;

/** Secrets that are not tokens: their shape is another one. */
const valueOf = (name: string) => {
  if (name === "MAIL_FROM") return "hello@example.com";
  return name === "ADMIN_TOKENS" ? `ada:${RIGHT}` : RIGHT;
};

interface Sent {
  token?: string;
  from?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * Walks all routes of a lesson.
 *
 * @param dir absolute path of the lesson
 * @param table the rows of all lessons
 * @param flood how many anonymous requests each limited route gets, 0 for none
 */
export async function checkLesson(
  dir: string,
  table: readonly RouteRow[],
  { flood = 0 }: { flood?: number } = {},
): Promise<{ openings: Opening[]; floods: Flood[] }> {
  const lesson = basename(dir).slice(0, 2);
  const rows = table.filter((row) => row.lesson === lesson);
  const openings: Opening[] = [];
  const floods: Flood[] = [];
  const opening = (route: string, what: string) => openings.push({ lesson, route, what });
  const nameOf = ({ method, path }: RouteRow) => `${method} ${path}`;

  const registered = await registeredRoutes(dir);
  const listed = rows.map(nameOf);
  for (const route of registered) {
    if (!listed.includes(route)) opening(route, "stands in the code and not in the table");
  }
  for (const route of listed) {
    if (!registered.includes(route)) opening(route, "stands in the table and not in the code");
  }

  const secrets = await secretsOf(dir);
  await walk("", async (send) => {
    for (const row of rows) {
      for (const token of [undefined, WRONG, ""]) {
        const { status } = await send(row, token === undefined ? {} : { token });
        const { kind } = row.access;
        const isClosed = [401, 403, 404, 503].includes(status);
        if (kind !== "open" && kind !== "limited" && !isClosed) {
          opening(nameOf(row), `with no secret set it answers ${status}`);
        }
      }
    }
  });

  await walk(RIGHT, async (send, fetch) => {
    for (const row of rows) await checkRow(row, send);
    for (const path of ["/pitfalls", "/pitfalls/any/pitfall", "/cdn-cgi/lab/boot", "/.dev.vars"]) {
      const { status } = await fetch(path, { method: "GET" });
      if (status !== 404) opening(`GET ${path}`, `is answered ${status}, not 404`);
    }
  });

  for (const row of flood > 0 ? rows.filter(({ access }) => access.kind === "limited") : []) {
    await walk(RIGHT, async (send) => {
      const statuses: Record<string, number> = {};
      for (let sent = 0; sent < flood; sent += 50) {
        const some = Array.from({ length: Math.min(50, flood - sent) }, () =>
          send(row, { from: "192.0.2.99", body: BODIES[keyOf(row)]?.(anyAddress()) }),
        );
        for (const { status } of await Promise.all(some)) {
          statuses[status] = (statuses[status] ?? 0) + 1;
          if (![202, 409, 422, 429].includes(status)) {
            opening(nameOf(row), `a flood of valid requests is answered ${status}`);
          }
        }
      }
      floods.push({ lesson, route: nameOf(row), statuses });
    });
  }
  return { openings, floods };

  /** Starts the lesson with this value for each of its secrets, and ends it. */
  async function walk(
    value: string,
    work: (send: (row: RouteRow, sent: Sent) => Promise<Answer>, fetch: Fetch) => Promise<void>,
  ): Promise<void> {
    const vars = Object.fromEntries(secrets.map((name) => [name, value && valueOf(name)]));
    const runtime = await LessonRuntime.start(dir, {
      ...vars,
      // Where it stands in the configuration it is the deployer's, and not this machine.
      PUBLIC_ORIGIN: "https://lesson.example",
    });
    const fetch: Fetch = async (path, init) => {
      // A deployed Worker has a name of its own.
      const response = await runtime.fetch(`https://lesson.example${path}`, init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    try {
      await work(
        ({ method, path }, { token, from = anyCaller(), body, headers }) =>
          fetch(exampleOf(path), {
            method,
            headers: {
              "cf-connecting-ip": from,
              ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
              ...(body === undefined ? {} : { "content-type": "application/json" }),
              ...headers,
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          }),
        fetch,
      );
    } finally {
      await runtime.close();
    }
  }

  async function checkRow(
    row: RouteRow,
    send: (row: RouteRow, sent: Sent) => Promise<Answer>,
  ): Promise<void> {
    const route = nameOf(row);
    const { access } = row;
    const none = await send(row, {});
    const wrong = await send(row, { token: WRONG });
    const right = await send(row, { token: RIGHT });
    for (const { status } of [none, wrong, right]) {
      if (status >= 500) opening(route, `is answered ${status}`);
    }

    if (access.kind === "token") {
      if (none.status !== 401) opening(route, `without a token it answers ${none.status}, not 401`);
      if (wrong.status !== 401) opening(route, `a wrong token is answered ${wrong.status}`);
      if (right.status === 401) opening(route, "the right token is refused");
    }
    if (access.kind === "this machine") {
      if (none.status !== 401) opening(route, `without a token it answers ${none.status}, not 401`);
      if (right.status !== 404) opening(route, `elsewhere it is answered ${right.status}, not 404`);
    }
    if (access.kind === "link" && [none, wrong, right].some(({ status }) => status !== 403)) {
      opening(route, `without a signature it answers ${none.status}, not 403`);
    }
    if (access.kind === "open") {
      if ([401, 403].includes(none.status)) opening(route, "is not open");
      if (access.more) await checkMore(row, access.more, send);
    }
    if (access.kind === "limited") await checkLimits(row, send);

    // Another origin: a browser may send it, and must not hand over the answer.
    for (const method of [row.method, "OPTIONS"]) {
      const { headers } = await send(
        { ...row, method },
        {
          token: RIGHT,
          headers: {
            origin: "https://elsewhere.example",
            "access-control-request-method": row.method,
          },
        },
      );
      const allowed = headers.get("access-control-allow-origin");
      if (allowed !== null) opening(route, `lets ${allowed} read its answers`);
    }
    // Another host, as after a name that was pointed here: nothing opens by it.
    const asLocal = await send(row, {
      headers: { host: "localhost", "x-forwarded-host": "localhost" },
    });
    if (asLocal.status !== none.status && ![429, 202, 200].includes(asLocal.status)) {
      opening(
        route,
        `under another Host it answers ${asLocal.status} in the place of ${none.status}`,
      );
    }
  }

  async function checkMore(
    row: RouteRow,
    token: string,
    send: (row: RouteRow, sent: Sent) => Promise<Answer>,
  ): Promise<void> {
    const example = EXAMPLES[keyOf(row)];
    const starter = rows.find((other) => keyOf(other) === example?.start);
    if (!example || !starter) throw new Error(`Nobody knows what to look at: ${keyOf(row)}`);
    const body = BODIES[keyOf(starter)]?.(anyAddress());
    const started = await send(starter, { body });
    const path = example.look(JSON.parse(started.text));
    const shown = async (given?: string) => {
      const answer = await send({ ...row, path }, given === undefined ? {} : { token: given });
      return Object.keys(JSON.parse(answer.text) as object);
    };
    const [open, wrong, more] = [await shown(), await shown(WRONG), await shown(RIGHT)];
    if (open.includes("error") || open.length >= more.length || wrong.length !== open.length) {
      opening(nameOf(row), `shows the same with ${token} and without: ${open.join(", ")}`);
    }
  }

  async function checkLimits(
    row: RouteRow,
    send: (row: RouteRow, sent: Sent) => Promise<Answer>,
  ): Promise<void> {
    const bodyOf = BODIES[keyOf(row)];
    if (!bodyOf) throw new Error(`Nobody knows what this route takes: ${keyOf(row)}`);
    const asked = (make: () => Sent) =>
      Promise.all(Array.from({ length: MANY }, () => send(row, make())));
    const checkAnswers = (answers: readonly Answer[], who: string) => {
      const refused = answers.filter(({ status }) => status === 429);
      if (refused.length === 0) opening(nameOf(row), `${who} is answered ${MANY} times`);
      if (refused.some(({ headers }) => !headers.get("retry-after"))) {
        opening(nameOf(row), "429 does not say when to come back");
      }
    };
    const from = anyCaller();
    checkAnswers(await asked(() => ({ from, body: bodyOf(anyAddress()) })), "one caller");
    if (!HAS_SUBJECT.has(keyOf(row))) return;
    const victim = anyAddress();
    checkAnswers(
      await asked(() => ({ body: bodyOf(anySpellingOf(victim)) })),
      "one address of mail",
    );
  }
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}
type Fetch = (
  path: string,
  init: { method: string; headers?: Record<string, string>; body?: string },
) => Promise<Answer>;

const keyOf = ({ lesson, method, path }: RouteRow) => `${lesson} ${method} ${path}`;

let callers = 0;
/** An address from which nothing has come yet. */
const anyCaller = () => `198.18.${Math.floor(++callers / 250) % 250}.${callers % 250}`;
/** Another spelling of an address each time, which its mail server may take for the same. */
const anySpellingOf = (email: string) => {
  const nth = ++callers;
  const cased = Array.from(email, (letter, at) =>
    (nth >> (at % 8)) & 1 ? letter.toUpperCase() : letter,
  );
  return cased.join("").replace("@", `+${nth}@`);
};
const anyAddress = () => `${crypto.randomUUID()}@example.com`;

/** The names of the secrets that a lesson's configurations ask for. */
const secretsOf = async (dir: string): Promise<string[]> =>
  (await lessonConfigs(dir)).flatMap(({ secrets }) => secrets);
