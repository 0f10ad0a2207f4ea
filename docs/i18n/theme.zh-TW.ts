/** In Traditional Chinese, what VitePress's theme says and offers no setting for: each of its components, and its words. */
export const THEME_IN_CHINESE: Record<string, readonly [english: string, chinese: string]> = {
  "VPDocFooter.vue": ["Pager", "上一頁與下一頁"],
  "VPNavBarExtra.vue": ["extra navigation", "更多選項"],
  "VPNavBarHamburger.vue": ["mobile navigation", "選單"],
  "VPNavBarMenu.vue": ["Main Navigation", "主選單"],
  "VPSidebar.vue": ["Sidebar Navigation", "側邊選單"],
  "VPSidebarItem.vue": ["toggle section", "展開或收合"],
};

/** The button beside a block of code. */
export const COPY_CODE = ["Copy Code", "複製程式碼"] as const;

/** The link that a heading has to itself. */
export const permalinkInChinese = (heading: string): string => `「${heading}」的連結`;
