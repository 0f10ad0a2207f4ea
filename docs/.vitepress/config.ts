import { join } from "node:path";
import { defineConfig } from "vitepress";
import { CODE_THEME } from "./lab/code-theme.ts";
import { labPlugin } from "./lab/lab-plugin.ts";
import { sidebarOf } from "./lab/navigation.ts";
import { pagesPlugin } from "./lab/pages-plugin.ts";
import { chineseMarkdown, themeWords } from "./lab/theme-words.ts";

const docsDir = join(import.meta.dirname, "..");
const root = join(docsDir, "..");
const appsDir = join(root, "apps");
/** What pages are made of, beside their text. */
const readable = [
  docsDir,
  join(root, "node_modules"),
  ...["lab", "outside-world", "types"].map((name) => join(root, "packages", name, "src")),
];
// Where the site is served from a sub-path: /durable-lessons/, for example.
const base = process.env["DOCS_BASE"] ?? "/";

export default defineConfig({
  title: "Durable Lessons",
  base,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${base}favicon.svg` }]],
  srcExclude: ["i18n/**", "test/**", "**/dist/**"],
  cleanUrls: true,
  markdown: { theme: CODE_THEME, config: chineseMarkdown },
  // Files that readers open elsewhere too; what they link to outside of docs/ is checked by a test.
  ignoreDeadLinks: [/^(\.\/)?(\.\.\/)+(apps|packages)\//, /^http:\/\/localhost:/],
  locales: {
    root: {
      label: "English",
      lang: "en",
      description:
        "Cloudflare Workflows and Queues, every pitfall beside its fix, on a runtime that is killed under both",
      themeConfig: {
        nav: [
          { text: "Pitfalls", link: "/pairs" },
          { text: "Choosing", link: "/choosing" },
          { text: "Claims", link: "/claims" },
        ],
        sidebar: sidebarOf(docsDir, "", { lessons: "Lessons", reference: "Reference" }),
      },
    },
    "zh-TW": {
      label: "繁體中文",
      lang: "zh-TW",
      description:
        "Cloudflare Workflows 與 Queues：每個陷阱都和修正並排，在真正的執行環境上跑，途中強制終止",
      themeConfig: {
        nav: [
          { text: "陷阱目錄", link: "/zh-TW/pairs" },
          { text: "怎麼選", link: "/zh-TW/choosing" },
          { text: "主張與判定", link: "/zh-TW/claims" },
        ],
        sidebar: sidebarOf(join(docsDir, "zh-TW"), "/zh-TW", {
          lessons: "課程",
          reference: "參考",
        }),
        outline: { level: [2, 3], label: "本頁內容" },
        docFooter: { prev: "上一頁", next: "下一頁" },
        darkModeSwitchLabel: "外觀",
        lightModeSwitchTitle: "切換為淺色",
        darkModeSwitchTitle: "切換為深色",
        sidebarMenuLabel: "選單",
        returnToTopLabel: "回到頂端",
        langMenuLabel: "切換語言",
        skipToContentLabel: "跳到內容",
        notFound: {
          title: "找不到頁面",
          quote: "網址可能打錯了，或是頁面已經搬走。",
          linkLabel: "回首頁",
          linkText: "回首頁",
        },
      },
    },
  },
  themeConfig: {
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        locales: {
          "zh-TW": {
            translations: {
              button: { buttonText: "搜尋", buttonAriaLabel: "搜尋" },
              modal: {
                displayDetails: "顯示詳細清單",
                resetButtonTitle: "清除搜尋",
                backButtonTitle: "關閉搜尋",
                noResultsText: "找不到：",
                footer: {
                  selectText: "選擇",
                  selectKeyAriaLabel: "Enter 鍵",
                  navigateText: "移動",
                  navigateUpKeyAriaLabel: "向上鍵",
                  navigateDownKeyAriaLabel: "向下鍵",
                  closeText: "關閉",
                  closeKeyAriaLabel: "Esc 鍵",
                },
              },
            },
          },
        },
      },
    },
  },
  vite: {
    // A runtime is started and killed behind these pages: nobody else's business.
    server: { host: "127.0.0.1", cors: false, allowedHosts: [] },
    plugins: [themeWords(), pagesPlugin({ appsDir, docsDir }), labPlugin(appsDir, readable)],
  },
});
