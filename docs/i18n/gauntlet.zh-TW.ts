/** The gauntlet in Traditional Chinese: what its trials are called, its rules, and what is seen when one breaks. */
import type { Rule } from "@durable-lessons/outside-world/rules";
import { type Translation, translated } from "./translations.ts";

/** What each rule demands. */
export const RULES_IN_CHINESE: Record<Rule, string> = {
  "charged-once": "同一張訂單，卡片不會扣兩次款",
  "refunds-within-charges": "退款不會超過扣款",
  "undone-leaves-nothing": "訂單沒有成立，就不會有錢、庫存或包裹還留在外面",
  "mailed-once": "同一件事，不會寄兩封信給同一個人",
  "done-once": "其他事也不會做兩次",
  "complete-means-all": "complete 就表示每件事都做了",
  "no-means-no": "沒有核准的事就不做",
  "messages-are-kept": "訊息不是處理完了，就是留在找得到的地方",
  "neighbours-are-served": "同批有壞訊息，其他訊息照樣處理，而且只處理一次",
  "requests-are-answered": "沒有問題的請求，不會得到錯誤的回應",
  "bad-input-is-told": "看不懂的請求會得到 4xx，而且不留下任何副作用",
  "comes-to-an-end": "每次執行都會結束",
};

/** What a pair says of an exception, by the English words: several pairs say the same. A test says which are missing. */
export const EXCEPTIONS_IN_CHINESE: Record<string, string> = {
  // Lesson 2
  "The run is errored, and nobody gives the money back.": "執行以 errored 結束，錢沒有人退。",
  "The run is errored, as it should be, and nobody gives the money back.":
    "執行以 errored 結束，這沒有錯，只是錢沒有人退。",
  "The run is errored, and what is reserved stays reserved.":
    "執行以 errored 結束，保留的庫存就一直保留著。",
  "The run is errored, and waits for somebody who restarts it or gives the money back.":
    "執行以 errored 結束，等著有人重新啟動它，或是退款。",
  "The price is read anew: the provider refuses another sum under the same key, and the run is errored.":
    "價格重讀了一次：同一個鍵換了金額，金流商拒絕，執行就以 errored 結束。",
  "The run is errored before it waits, and what is reserved stays reserved.":
    "還沒開始等待，執行就以 errored 結束，保留的庫存就一直保留著。",
  "The run is errored although the parcel has left, and what is reserved stays reserved.":
    "包裹其實已經寄出，執行卻以 errored 結束，保留的庫存就一直保留著。",
  // Lesson 3
  "The mail is out, but its consumer does not know it and sends another one.":
    "信已經寄出去了，消費者不知道，又寄了一封。",
  "The mail is out and not marked: after the crash another one is sent.":
    "信寄出去了，還沒做記號：崩潰之後又寄一封。",
  "Nobody remembers the first delivery.": "沒有人記得第一次送達。",
  "Nobody remembers the other delivery.": "沒有人記得另一次送達。",
  // Lesson 4
  "The carrier takes nothing back: the return's instance has failed, and the parcel is still out.":
    "貨運商什麼都沒召回：退貨的實例失敗了，包裹還在外面。",
};

const TRIALS: Translation[] = [
  [/^undisturbed$/, "沒有任何干擾"],
  [/^(\S+) always fails$/, "$1 一律失敗"],
  [/^(\S+): every answer lost$/, "$1 每次都生效，回應每次都遺失"],
  [/^(\S+) fails$/, "$1 失敗一次"],
  [/^(\S+): answer lost$/, "$1 生效了，回應遺失"],
  [/^killed during (\S+)$/, "呼叫 $1 途中強制終止執行環境"],
  [/^killed after (\S+)$/, "$1 生效後強制終止執行環境"],
  [/^createBatch reports errors$/, "createBatch 在回傳值裡說有錯"],
  [/^restarted after its end$/, "結束後再重新啟動"],
  [/^each message twice$/, "每則訊息送達兩次"],
  [/^each message twice at once$/, "每則訊息在同一批送達兩次"],
  [/^a neighbour is a string$/, "同批有一則是字串"],
  [/^a neighbour is (\S+)$/, "同批有一則是 $1"],
  [/^a neighbour always fails$/, "同批有一則一律失敗"],
  [/^the request twice$/, "同一個請求送兩次"],
  [/^the request twice at once$/, "同一個請求同時送兩次"],
  [/^a body that is no object$/, "請求的內容不是物件"],
  [/^an id like (\S+)$/, "id 長得像 $1"],
  [/^every answer is no$/, "每個回覆都是不同意"],
  [/^every answer is malformed$/, "每個回覆的格式都不對"],
  [/^every answer comes twice$/, "每個回覆都來兩次"],
  [/^no answer comes$/, "一直沒有人回覆"],
];

const SEEN: Translation[] = [
  [/^(\S+) (\d+) times for order (.+)$/, "訂單 $3 有 $2 次 $1"],
  [/^(\S+) (\d+) times to one address, (.+)$/, "同一個地址有 $2 次 $1：$3"],
  [/^(\S+) (\d+) times for (.+)$/, "$1 共 $2 次：$3"],
  [/^(\S+) (\d+) times$/, "$1 共 $2 次"],
  [/^(\d+) cents too many refunded$/, "多退了 $1 分錢"],
  [/^(\S+), and no (\S+)$/, "有 $1，沒有 $2"],
  [/^without all of the last message$/, "最後一則訊息什麼都沒做"],
  [/^complete without (.+)$/, "complete，卻少了 $1"],
  [/^without (.+)$/, "少了 $1"],
  [/^it got (\d+)$/, "得到 $1"],
  [/^it threw$/, "拋出錯誤"],
  [/^it is still (.+)$/, "狀態還是 $1"],
  [/^timed out after (\d+) ms, waiting for its end$/, "過了 $1 毫秒還沒有結束"],
  [/^acked, not done, and nowhere to be found$/, "確認了，沒有做，哪裡都找不到"],
];

/** A trial's name. One that is not known stays English: a test says which. */
export const trialInChinese = (name: string): string =>
  name
    .split(", then ")
    .map((part) => translated(part, TRIALS) ?? part)
    .join("，接著 ");

/** What is seen of a broken rule. Kinds of effects, statuses and codes stay as they are. */
export function sawInChinese(saw: string): string {
  const [, first = saw, more] = /^(.*), and (\d+) more$/.exec(saw) ?? [];
  if (more !== undefined) return `${sawInChinese(first)}，另外還有 ${more} 件`;
  const [, status, rest = first] = /^(errored|terminated): (.*)$/.exec(first) ?? [];
  const text = translated(rest, SEEN) ?? rest;
  return status === undefined ? text : `${status}：${text}`;
}
