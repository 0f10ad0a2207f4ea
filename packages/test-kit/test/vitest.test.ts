/** The tests of every lesson run the Worker that is deployed: nothing in vitest's options that its configuration lacks. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { unstable_readConfig } from "wrangler";

/** What a configuration of vitest hands to the plugin. */
interface Options {
  wrangler?: { configPath?: string };
  miniflare?: Record<string, unknown>;
}
interface Project {
  plugins?: { options: Options }[];
}

vi.mock("@cloudflare/vitest-plugin", async (original) => ({
  ...(await original<object>()),
  cloudflareTest: (options: Options) => ({ options }),
}));

const apps = join(import.meta.dirname, "..", "..", "..", "apps");
const lessons = readdirSync(apps).filter((name) => /^\d\d-/.test(name));

/** What may differ: short times and tokens in vars, consumers that do not wait. */
const MAY_DIFFER = new Set(["bindings", "queueConsumers"]);

describe.each(lessons)("%s", (lesson) => {
  const workers = async () => {
    const config = await import(join(apps, lesson, "vitest.config.ts"));
    const { projects }: { projects: Project[] } = (await config.default).test;
    return projects.flatMap(({ plugins = [] }) => plugins.map(({ options }) => options));
  };

  test("is tested as its wrangler configuration says, with its flags and no others", async () => {
    const options = await workers();
    expect(options.length).toBeGreaterThan(0);
    for (const { wrangler, miniflare = {} } of options) {
      expect(wrangler?.configPath).toMatch(new RegExp(`/apps/${lesson}/wrangler.*\\.jsonc$`));
      expect(Object.keys(miniflare).filter((key) => !MAY_DIFFER.has(key))).toEqual([]);
    }
  });

  test("names no flag that its compatibility date has anyway", () => {
    const files = readdirSync(join(apps, lesson)).filter((name) =>
      /^wrangler.*\.jsonc$/.test(name),
    );
    for (const file of files) {
      const { compatibility_flags: flags, compatibility_date: date = "" } = unstable_readConfig({
        config: join(apps, lesson, file),
      });
      // Defaults since these days (Workers documentation, "Compatibility flags"). From then on workerd refuses a Worker that
      // names them; wrangler takes some of them out where it runs locally, and so it would first be seen in a deploy.
      const defaults = Object.entries({
        enhanced_error_serialization: "2026-04-21",
        nodejs_compat: "2026-08-04",
        workflows_preserve_non_retryable_error_message: "2026-05-14",
      }).filter(([, since]) => since <= date);
      expect(flags.filter((flag: string) => defaults.some(([name]) => name === flag))).toEqual([]);
    }
  });
});
