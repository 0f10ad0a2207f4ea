/** In Traditional Chinese, what the lab and the platform say of a run: where it stands, and what went wrong. */
import { type Translation, translated } from "./translations.ts";

/** Names that the platform gives stay beside the words: the text and the code have them too. */
const STATUSES: Record<string, string> = {
  queued: "排隊中（queued）",
  running: "執行中（running）",
  waiting: "等待中（waiting）",
  paused: "已暫停（paused）",
  complete: "完成（complete）",
  errored: "出錯（errored）",
  terminated: "已終止（terminated）",
  "not started": "尚未開始",
  "at its crash point": "已到崩潰點",
  "timed out": "逾時",
  failed: "失敗",
  blocked: "卡住",
};

/** Where a run stands. A status that is not known stays as it is. */
export const statusInChinese = (status: string): string => STATUSES[status] ?? status;

const ERRORS: Translation[] = [
  [/^The connection to the dev server was lost\.$/, "和開發伺服器的連線中斷了。"],
  [
    /^(?:Failed to fetch|Load failed|NetworkError .*)$/,
    "連不上開發伺服器，請確認 pnpm dev 還在執行。",
  ],
  [/^Nothing of (?:this lesson|.+) is running\.$/, "這一課沒有正在進行的執行。"],
  [/^The server is ending\.$/, "開發伺服器正在關閉。"],
  [/^The session of (.+) was closed\.$/, "$1 的執行已經關閉。"],
  [/^did not start: (.*)$/s, "沒有啟動：$1"],
  [
    /^ended with status (.+) before its crash point \((.+)\)$/,
    "還沒到崩潰點（$2）就結束，狀態是 $1",
  ],
  [/^ended with status (.+), without (?:step )?(.+)$/, "沒有經過 $2 就結束，狀態是 $1"],
  [/^hangs in (.+), not in (.+)$/, "停在 $1，不是 $2"],
  [/^never reached step (.+): it hangs in (.+)$/, "沒有走到步驟 $1：停在 $2"],
];

/** What went wrong. What is not known stays as it is: it may be the reader's own error. */
export const errorInChinese = (message: string): string => translated(message, ERRORS) ?? message;
