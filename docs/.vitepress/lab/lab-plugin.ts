import { relative, sep } from "node:path";
import type { Plugin } from "vitepress";
import { LabServer } from "./lab-server.ts";

/** The path of the lab below the site's base. */
const LAB_PATH = "__lab/";

/**
 * Lets the pages of the dev server run pairs: see {@link LabServer}. A static build has no such server.
 *
 * @param appsDir the folder of the lessons
 */
export function labPlugin(appsDir: string): Plugin {
  let lab: LabServer | undefined;
  return {
    name: "durable-lessons:lab",
    apply: "serve",
    configureServer(server) {
      const ours = new LabServer(appsDir);
      lab = ours;
      const prefix = `${server.config.base}${LAB_PATH}`;
      server.middlewares.use((request, response, next) => {
        const { pathname } = new URL(request.url ?? "/", "http://localhost");
        if (!pathname.startsWith(prefix)) next();
        else void ours.handle(pathname.slice(prefix.length), request, response);
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

/** Is this a file that a lesson's Worker is built from? */
function isSource(appsDir: string, file: string): boolean {
  const [, folder] = relative(appsDir, file).split(sep);
  return !relative(appsDir, file).startsWith("..") && folder === "src";
}
