import type { Fault } from "@durable-lessons/outside-world/faults";
import type { Pair } from "./pair.ts";

/** Says in a few words what is done to a run of this pair: its disturbance, and what fails outside. */
export function describeDisturbance(pair: Pair): string {
  const parts = [describeLab(pair), describeFaults(pair)].filter((part) => part !== "");
  return parts.join("; ") || "nothing";
}

function describeFaults({ faults = {} }: Pair): string {
  return Object.entries(faults)
    .map(([operation, script]) => {
      const list = Array.isArray(script) ? script : [script.always];
      const named = list.map(nameOfFault).filter((name) => name !== undefined && name !== "ok");
      const always = Array.isArray(script) ? "" : "always ";
      return named.length > 0 ? `${operation}: ${always}${named.join(", ")}` : "";
    })
    .filter((part) => part !== "")
    .join("; ");
}

/** A fault in words, or undefined for what the crash already says. */
function nameOfFault(fault: Fault): string | undefined {
  if (fault === "hang" || fault === "hang-after-effect") return undefined;
  if (typeof fault === "string") return fault;
  return "code" in fault ? fault.code : `answers ${fault.slowMs} ms late`;
}

function describeLab(pair: Pair): string {
  const what = describeDisturb(pair);
  return "before" in pair ? `${what}, and started again with other code` : what;
}

function describeDisturb({ disturb, engine }: Pair): string {
  if (!disturb) return "";
  if ("crash" in disturb) {
    const where = engine === "workflow" ? "step " : "";
    if ("call" in disturb.crash) return `the runtime is killed while ${disturb.crash.call} hangs`;
    return "during" in disturb.crash
      ? `the runtime is killed during ${where}"${disturb.crash.during}"`
      : `the runtime is killed after ${where}"${disturb.crash.after}"`;
  }
  if ("deliver" in disturb) {
    const how = disturb.atOnce ? " at once" : "";
    return `the same ${engine === "queue" ? "message" : "request"} ${disturb.deliver} times${how}`;
  }
  if ("neighbour" in disturb) return `another message ${JSON.stringify(disturb.neighbour)}`;
  if ("neighbourFails" in disturb) return "another message that always fails";
  if ("oddIds" in disturb) return "an email address as the id";
  if ("body" in disturb) return `the body ${JSON.stringify(disturb.body)}`;
  if ("expire" in disturb) return "the instance is past its retention, then the message again";
  if ("outage" in disturb) return `an outage of ${disturb.outage.seconds} s`;
  if ("restart" in disturb) {
    const { from } = disturb.restart;
    return from ? `restarted from step "${from}"` : "restarted from the beginning";
  }
  const { type, times = 1 } = disturb.sendEvent;
  return times === 1 ? `the event "${type}"` : `the event "${type}" ${times} times`;
}
