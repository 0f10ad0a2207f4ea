import type { PairTrace, RunTrace } from "../theme/run-state.ts";

/** A trace as it is committed: times from the first event on, and instances by number, since their ids are random. */
export function recordedTrace({ runs, crash }: PairTrace): PairTrace {
  const times = Object.values(runs).flatMap(({ events, marks }) => [
    ...events.map(({ timestamp }) => timestamp),
    ...marks.map(({ at }) => at),
  ]);
  const start = Math.min(...times);
  const ofRun = ({ status, evidence, events, marks }: RunTrace): RunTrace => {
    const instances = [...new Set(events.map(({ instanceId }) => instanceId))];
    return {
      status,
      evidence,
      events: events.map((event) => ({
        ...event,
        instanceId: String(instances.indexOf(event.instanceId) + 1),
        timestamp: event.timestamp - start,
      })),
      marks: marks.map((mark) => ({ ...mark, at: mark.at - start })),
    };
  };
  return {
    runs: { pitfall: ofRun(runs.pitfall), fix: ofRun(runs.fix) },
    crash: crash && { at: crash.at - start, upAt: crash.upAt - start },
  };
}
