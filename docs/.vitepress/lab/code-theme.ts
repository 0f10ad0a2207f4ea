/** Colours of code that stand out from their ground enough for everybody; VitePress's own do not, in light. */
export const CODE_THEME = {
  light: "github-light-high-contrast",
  dark: "github-dark-high-contrast",
} as const;
