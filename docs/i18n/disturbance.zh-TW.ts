import type { Pair } from "@durable-lessons/lab";

/** In Traditional Chinese, what `describeDisturbance` of the lab says in English. */
export function describeDisturbanceInChinese(pair: Pair): string {
  return [lab(pair), faults(pair)].filter((part) => part !== "").join("；") || "沒有任何干擾";
}

function lab(pair: Pair): string {
  const what = disturbed(pair);
  return "before" in pair ? `${what}，再用另一版程式碼啟動` : what;
}

function disturbed({ disturb, engine }: Pair): string {
  if (!disturb) return "";
  if ("crash" in disturb) {
    const { crash } = disturb;
    const [place, when] =
      "after" in crash
        ? [crash.after, "完成後"]
        : ["call" in crash ? crash.call : crash.during, "執行時"];
    return engine === "workflow"
      ? `在步驟「${place}」${when}強制終止執行環境`
      : `在呼叫 ${place} ${when}強制終止執行環境`;
  }
  if ("deliver" in disturb) {
    const how = disturb.atOnce ? "同時" : "";
    const what = engine === "queue" ? `則訊息${how}送達` : `個請求${how}送出`;
    return `同一${what} ${disturb.deliver} 次`;
  }
  if ("expire" in disturb) return "實例過了保留期，同一則訊息再來一次";
  if ("outage" in disturb) return `服務中斷 ${disturb.outage.seconds} 秒`;
  if ("restart" in disturb) {
    const { from } = disturb.restart;
    return from ? `從步驟「${from}」重新啟動` : "從頭重新啟動";
  }
  const { type, times = 1 } = disturb.sendEvent;
  return times === 1 ? `送出事件「${type}」` : `送出事件「${type}」${times} 次`;
}

function faults({ faults: scripts = {} }: Pair): string {
  return Object.entries(scripts)
    .map(([operation, script]) => {
      const list = Array.isArray(script) ? script : [script.always];
      const named = list.map(nameOf).filter((name) => name !== null);
      const always = Array.isArray(script) ? "" : "一律";
      return named.length > 0 ? `${operation} ${always}${named.join("、")}` : "";
    })
    .filter((part) => part !== "")
    .join("；");
}

const WORDS: Record<string, string | null> = {
  ok: null,
  // The crash says it already.
  hang: null,
  "hang-after-effect": null,
  fail: "失敗",
  "fail-after-effect": "生效後才失敗",
  decline: "拒絕",
  "report-errors": "在回傳值裡拒絕最後一個",
};

function nameOf(fault: unknown): string | null {
  if (typeof fault === "string") return WORDS[fault] === undefined ? fault : WORDS[fault];
  if (typeof fault !== "object" || fault === null) return null;
  if ("code" in fault) return `回應 ${String(fault.code)}`;
  if ("slowMs" in fault) return `晚 ${String(fault.slowMs)} 毫秒才回應`;
  if ("downForMs" in fault) return `停擺 ${String(fault.downForMs)} 毫秒`;
  return null;
}
