import { join, relative, sep } from "node:path";
import { refusal } from "@durable-lessons/lab/guard";
import type { Plugin } from "vitepress";
import { LabServer } from "./lab-server.ts";

/** The path of the lab below the site's base. */
const LAB_PATH = "__lab/";

/** What pages are made of has such names: this site's theme, pnpm's store, and what Vite keeps of packages. */
const SHOWN = new Set([".pnpm", ".vitepress", ".vite"]);

/**
 * Lets the pages of the dev server run pairs: see {@link LabServer}. A static build has no such server. Whatever else is asked
 * of it passes the guard too, and no file is given but those that pages are made of.
 *
 * @param appsDir the folder of the lessons
 * @param readable the folders out of which files are given, but none whose name begins with a dot
 */
export function labPlugin(appsDir: string, readable: readonly string[]): Plugin {
  let lab: LabServer | undefined;
  return {
    name: "durable-lessons:lab",
    apply: "serve",
    // Its middleware stands before the site's.
    enforce: "pre",
    configResolved(config) {
      // VitePress adds the whole repository, in which there are a reader's secrets too.
      config.server.fs.allow = [...readable];
    },
    configureServer(server) {
      const ours = new LabServer(appsDir);
      lab = ours;
      const prefix = `${server.config.base}${LAB_PATH}`;
      const root = join(appsDir, "..");
      server.middlewares.use((request, response, next) => {
        const refused = refusal({
          method: request.method,
          remoteAddress: request.socket.remoteAddress,
          headers: request.headers,
        });
        const pathname = pathOf(request.url);
        if (refused) response.writeHead(refused.status).end(refused.error);
        else if (pathname === null) response.writeHead(404).end("There is no such page.");
        else if (isHidden(pathname, root)) response.writeHead(403).end("No page needs this file.");
        else if (pathname.startsWith(prefix)) {
          void ours.handle(pathname.slice(prefix.length), request, response);
        } else next();
      });
      server.watcher.on("change", (file) => {
        if (isSource(appsDir, file)) void ours.sourceChanged(file);
      });
    },
    // The server is closed, or started anew because its config has changed.
    async buildEnd() {
      await lab?.close();
    },
  };
}

/** The decoded path of a request; null where it has none, as that for `//` and that with a broken `%`. */
function pathOf(url = ""): string | null {
  if (!url.startsWith("/") || url.startsWith("//")) return null;
  try {
    // VitePress decodes all of it.
    decodeURI(url);
    return decodeURIComponent(new URL(url, "http://localhost").pathname);
  } catch {
    return null;
  }
}

/** Does a path lead to a file whose name begins with a dot, as `.dev.vars`, `.env`, `.git`? Where the repository is does not count. */
const isHidden = (pathname: string, root: string) =>
  pathname
    .replace(`/@fs/${root.split(sep).join("/").replace(/^\//, "")}/`, "/")
    .split(/[/\\]/)
    .some((name) => name.startsWith(".") && !SHOWN.has(name));

/** Is this a file that a lesson's Worker is built from? */
function isSource(appsDir: string, file: string): boolean {
  const [, folder] = relative(appsDir, file).split(sep);
  return !relative(appsDir, file).startsWith("..") && folder === "src";
}
