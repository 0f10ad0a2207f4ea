import { defineConfig } from "vitepress";

export default defineConfig({
  title: "Durable Lessons",
  description:
    "Cloudflare Workflows and Queues, every pitfall beside its fix, on a runtime that is killed under both",
  lang: "en",
  cleanUrls: true,
  // Files that readers open on GitHub too; what they link to outside of docs/ is checked by a test.
  ignoreDeadLinks: [/^(\.\/)?\.\.\/\.\.\//],
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [{ text: "Claims", link: "/claims" }],
    sidebar: [
      {
        text: "Lessons",
        items: [{ text: "1 · Onboarding workflow", link: "/lessons/01-onboarding-workflow" }],
      },
      { text: "Reference", items: [{ text: "Claims and verdicts", link: "/claims" }] },
    ],
  },
});
