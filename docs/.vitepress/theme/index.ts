import DefaultTheme from "vitepress/theme";
import type { Theme } from "vitepress";
import LessonList from "./LessonList.vue";
import PairCatalogue from "./PairCatalogue.vue";
import PairView from "./PairView.vue";
// Vite takes it from here.
// oxlint-disable-next-line import/no-unassigned-import
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("LessonList", LessonList);
    app.component("PairCatalogue", PairCatalogue);
    app.component("PairView", PairView);
  },
} satisfies Theme;
