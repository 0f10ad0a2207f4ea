import type { Pair, Symptom, Variant } from "@durable-lessons/lab";
import type { Locale } from "./pair-page.ts";
import type { GridCount, Order } from "./gauntlet.ts";
import type { GauntletPhase } from "./live-gauntlet.ts";
import type { Phase } from "./run-state.ts";
import type { LegendKey } from "./chart.ts";
import type { BarEnd } from "./timeline.ts";
import { errorInChinese, statusInChinese } from "../../i18n/lab.zh-TW.ts";
import { COPY_CODE } from "../../i18n/theme.zh-TW.ts";

/** Everything that the site's components say. */
export interface Messages {
  /** A label and what it labels. */
  labelled: (label: string, text: string) => string;
  /** Between the parts of one line. */
  comma: string;
  copyCode: string;
  variants: Record<Variant, string>;
  engines: Record<Pair["engine"], string>;
  symptoms: Record<Symptom, string>;
  claim: string;
  why: string;
  disturbed: string;
  run: string;
  runAgain: string;
  kill: string;
  phases: Record<Phase, string>;
  /** Said once the runtime is up again. */
  killed: (crash: { pidBefore: number; pidAfter: number; signal: string }) => string;
  asExpected: string;
  notAsExpected: string;
  recorded: (day: string, wrangler: string) => string;
  nothingRecorded: string;
  live: string;
  howToRun: string;
  howToRunText: string;
  evidence: string;
  expected: string;
  status: string;
  /** Where a run stands, from its English name. */
  statuses: (status: string) => string;
  /** What went wrong, from its English words. */
  error: (message: string) => string;
  timeline: string;
  timelineNote: string;
  asTable: string;
  columns: { run: string; row: string; what: string; from: string; to: string; end: string };
  rows: { message: (index: string) => string; rollback: (step: string) => string };
  bars: { attempt: (nth: number) => string; pause: string; sleep: string; wait: string };
  ends: Record<BarEnd, string>;
  readBack: string;
  crash: string;
  runtimeUp: string;
  legend: Record<LegendKey, string>;
  gauntlet: {
    title: string;
    about: string;
    run: string;
    runAgain: string;
    stop: string;
    phases: Record<GauntletPhase, string>;
    progress: (ended: number, planned: number) => string;
    recorded: (wrangler: string) => string;
    count: (count: GridCount) => string;
    trial: string;
    borne: string;
    breaks: (rule: string) => string;
    told: string;
    cure: string;
    none: string;
  };
  sort: string;
  orders: Record<Order, string>;
  filterEngine: string;
  filterSymptom: string;
  all: string;
  found: (shown: number, all: number) => string;
  pairs: (count: number) => string;
}

/** The words of each language. */
export const MESSAGES: Record<Locale, Messages> = {
  en: {
    labelled: (label, text) => `${label}: ${text}`,
    comma: ", ",
    copyCode: COPY_CODE[0],
    variants: { pitfall: "Pitfall", fix: "Fix" },
    engines: { workflow: "Workflow", queue: "Queue", http: "Request" },
    symptoms: {
      twice: "It ran twice",
      vanished: "It vanished",
      "never-ends": "It never ends",
      stopped: "It stopped at the first error",
      wrong: "It did the wrong thing",
      wasteful: "It takes too long, or costs too much",
    },
    claim: "Claim",
    why: "Why",
    disturbed: "Disturbed by",
    run: "Run",
    runAgain: "Run again",
    kill: "Kill the runtime",
    phases: {
      idle: "",
      starting: "Starting workerd …",
      running: "Both variants are running …",
      "at-crash-point": "Both variants are at the crash point. Kill the runtime now.",
      killing: "Waiting until all runs of this lesson are at their crash point …",
      waking: "workerd is up again; the runs have been woken …",
      ended: "Both runs have ended.",
      failed: "The run failed.",
    },
    killed: ({ pidBefore, pidAfter, signal }) =>
      `workerd ${pidBefore} was ended by ${signal}; workerd ${pidAfter} took over its storage.`,
    asExpected: "as claimed",
    notAsExpected: "not as claimed",
    recorded: (day, wrangler) => `Recorded on ${day} with wrangler ${wrangler}`,
    nothingRecorded: "This pair has no recorded run yet.",
    live: "Live, from your machine",
    howToRun: "How to run it",
    howToRunText:
      "This is a static copy of the site: it shows recorded runs, and cannot run anything. In a clone of the repository, with Node.js 20 or newer, this command opens the same page with a runtime behind it:",
    evidence: "Evidence",
    expected: "expected",
    status: "status",
    statuses: (status) => status,
    error: (message) => message,
    timeline: "Timeline",
    timelineNote: "Long gaps are shortened.",
    asTable: "The timeline as a table",
    columns: { run: "Run", row: "Row", what: "What", from: "From", to: "To", end: "Ended" },
    rows: { message: (index) => `message ${index}`, rollback: (step) => `rollback: ${step}` },
    bars: {
      attempt: (nth) => `attempt ${nth}`,
      pause: "pause before the retry",
      sleep: "sleep",
      wait: "wait",
    },
    ends: {
      ok: "done",
      failed: "failed",
      killed: "died with the runtime",
      open: "in progress",
      "timed-out": "timed out",
    },
    readBack: "read back, not run again",
    crash: "runtime killed",
    runtimeUp: "runtime up again",
    legend: {
      attempt: "attempt",
      failed: "failed",
      killed: "died in the crash",
      readBack: "read back, not run",
      sleep: "sleep, wait or pause",
      effect: "a side effect, or what the lab recorded",
      delivered: "delivered",
      acked: "acked",
      dead: "dead letter",
    },
    gauntlet: {
      title: "What else this fix survives",
      about:
        "Every call of both sides fails, loses its answer, or is killed, one fault at a time; then rules are checked.",
      run: "Run all trials here",
      runAgain: "Run all trials again",
      stop: "Stop",
      phases: {
        idle: "",
        starting: "Starting a workerd for these trials …",
        running: "The trials are running …",
        ended: "All trials have ended.",
        stopped: "Stopped. The table shows the earlier results.",
        failed: "The trials failed.",
      },
      progress: (ended, planned) => `${ended} of ${planned} trials`,
      recorded: (wrangler) => `Recorded with wrangler ${wrangler}`,
      count: ({ trials, borne, told }) =>
        `survives ${borne} of ${trials} trials${told > 0 ? `, ${told} listed as ${told === 1 ? "an exception" : "exceptions"}` : ""}`,
      trial: "Trial",
      borne: "survives",
      breaks: (rule) => `breaks “${rule}”`,
      told: "listed as an exception",
      cure: "Fixed by:",
      none: "no such trial",
    },
    sort: "Sort by",
    orders: {
      reading: "Reading order",
      borne: "Most survived trials first",
      "not-borne": "Most failed trials first",
    },
    filterEngine: "Engine",
    filterSymptom: "Symptom",
    all: "All",
    found: (shown, all) => `${shown} of ${all} pairs`,
    pairs: (count) => (count === 1 ? "1 pair" : `${count} pairs`),
  },
  "zh-TW": {
    labelled: (label, text) => `${label}：${text}`,
    comma: "，",
    copyCode: COPY_CODE[1],
    variants: { pitfall: "陷阱", fix: "修正" },
    engines: { workflow: "Workflow", queue: "佇列", http: "請求" },
    symptoms: {
      twice: "跑了兩次",
      vanished: "不見了",
      "never-ends": "一直不結束",
      stopped: "第一個錯誤就停了",
      wrong: "做錯了",
      wasteful: "太慢或太貴",
    },
    claim: "主張",
    why: "原因",
    disturbed: "干擾方式",
    run: "執行",
    runAgain: "再執行一次",
    kill: "強制終止執行環境",
    phases: {
      idle: "",
      starting: "正在啟動 workerd……",
      running: "兩個版本都在執行……",
      "at-crash-point": "兩個版本都到了崩潰點，現在可以強制終止執行環境。",
      killing: "等這一課的每次執行都到崩潰點……",
      waking: "workerd 已重新啟動，正在喚醒兩次執行……",
      ended: "兩次執行都結束了。",
      failed: "執行失敗了。",
    },
    killed: ({ pidBefore, pidAfter, signal }) =>
      `workerd ${pidBefore} 被 ${signal} 結束；workerd ${pidAfter} 接手同一份儲存。`,
    asExpected: "結果如預期",
    notAsExpected: "結果不如預期",
    recorded: (day, wrangler) => `${day} 以 wrangler ${wrangler} 錄製`,
    nothingRecorded: "這一組還沒有錄製結果。",
    live: "即時結果，來自你的電腦",
    howToRun: "如何執行",
    howToRunText:
      "這是網站的靜態版本，只能顯示錄好的結果，不能執行。請把儲存庫複製到自己的電腦（需要 Node.js 20 以上），執行下面這行指令，就會開啟同一個頁面，背後有真正的執行環境：",
    evidence: "證據",
    expected: "預期",
    status: "狀態",
    statuses: statusInChinese,
    error: errorInChinese,
    timeline: "時間軸",
    timelineNote: "較長的時間會縮短顯示。",
    asTable: "以表格顯示時間軸",
    columns: { run: "執行", row: "項目", what: "內容", from: "開始", to: "結束", end: "結果" },
    rows: { message: (index) => `訊息 ${index}`, rollback: (step) => `復原：${step}` },
    bars: {
      attempt: (nth) => `第 ${nth} 次嘗試`,
      pause: "重試前的停頓",
      sleep: "睡眠",
      wait: "等待",
    },
    ends: {
      ok: "完成",
      failed: "失敗",
      killed: "隨執行環境當掉",
      open: "進行中",
      "timed-out": "逾時",
    },
    readBack: "讀回結果，沒有再執行",
    crash: "執行環境被強制終止",
    runtimeUp: "執行環境重新啟動",
    legend: {
      attempt: "嘗試",
      failed: "失敗",
      killed: "因崩潰中斷",
      readBack: "讀回，未執行",
      sleep: "睡眠、等待或停頓",
      effect: "副作用，或實驗室記下的事",
      delivered: "送達",
      acked: "確認（ack）",
      dead: "死信",
    },
    gauntlet: {
      title: "這個修正還撐得住什麼",
      about:
        "兩個版本的每個呼叫，都輪流失敗、遺失回應，或在途中強制終止執行環境，一次一種；之後檢查規則。",
      run: "在這裡全部試一遍",
      runAgain: "全部再試一遍",
      stop: "停止",
      phases: {
        idle: "",
        starting: "正在為這些試驗另外啟動 workerd……",
        running: "試驗進行中……",
        ended: "試驗全部結束。",
        stopped: "已停止，表格顯示的是先前的結果。",
        failed: "試驗失敗了。",
      },
      progress: (ended, planned) => `${planned} 項試驗已完成 ${ended} 項`,
      recorded: (wrangler) => `以 wrangler ${wrangler} 錄製`,
      count: ({ trials, borne, told }) =>
        `${trials} 項試驗撐住 ${borne} 項${told > 0 ? `，${told} 項是已註明的例外` : ""}`,
      trial: "試驗",
      borne: "撐得住",
      breaks: (rule) => `違反「${rule}」`,
      told: "已註明的例外",
      cure: "解法：",
      none: "沒有這項試驗",
    },
    sort: "排序",
    orders: {
      reading: "閱讀順序",
      borne: "修正撐住的試驗，多的在前",
      "not-borne": "修正沒撐住的試驗，多的在前",
    },
    filterEngine: "引擎",
    filterSymptom: "症狀",
    all: "全部",
    found: (shown, all) => `共 ${all} 組，顯示 ${shown} 組`,
    pairs: (count) => `${count} 組陷阱與修正`,
  },
};

/** A value of the evidence as the page shows it: a status is a word of the language, everything else is a figure or a name. */
export const inWords = (messages: Messages, kind: string, value: unknown): string =>
  kind === "status" ? messages.statuses(String(value)) : String(value);
