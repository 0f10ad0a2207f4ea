/**
 * A million orders a day on paper: what they ask of the platform, which limits they meet, and what they cost. The tables
 * of docs/scale.md are this script's output, and a test compares the two: `pnpm scale`.
 */
import { D1_TRIPS } from "./d1-trips.ts";

/** What is assumed. Change it to your own, and run the script. */
export const ASSUMPTIONS = {
  "orders a day": 1_000_000,
  "days a month": 30,
  "orders in a request": 1,
  "peak, to the average": 10,
  "messages in a batch, on average": 50,
  "deliveries of a message": 1.01,
  "steps of an instance": 3,
  "seconds of an instance": 5,
  "looks at an order": 2,
  "CPU ms of a request": 2,
  "CPU ms of a batch": 20,
  "CPU ms of an instance": 8,
  "KB of an instance": 8,
  "days that an instance is kept": 15,
  "rows written for an order": 4,
  "rows read for an order": 10,
  "bytes of a row": 250,
  "days that a row is kept": 365,
};
export type Assumptions = typeof ASSUMPTIONS;

/** The public price list, Workers Paid, in US dollars: what a month includes, and what more costs for each `per`. */
const PRICES = {
  requests: { included: 10e6, price: 0.3, per: 1e6 },
  "CPU ms": { included: 30e6, price: 0.02, per: 1e6 },
  "queue operations": { included: 1e6, price: 0.4, per: 1e6 },
  "Workflow steps": { included: 500_000, price: 0.8, per: 100_000 },
  "Workflow GB": { included: 1, price: 0.2, per: 1 },
  "D1 rows written": { included: 50e6, price: 1, per: 1e6 },
  "D1 rows read": { included: 25e9, price: 0.001, per: 1e6 },
  "D1 GB": { included: 5, price: 0.75, per: 1 },
};
const SUBSCRIPTION = 5;

/** The platform's limits, Workers Paid. */
const LIMITS = {
  "messages a second, for a queue": 5000,
  "creates a second, for a Workflow": 100,
  "instances that run at a time, for an account": 50_000,
  "instances that are queued": 2_000_000,
  "orders in one D1 database of 10 GB": 10e9,
};

type Item = keyof typeof PRICES;

/** What a month uses of each item that is billed. */
export function usageOf(a: Assumptions): Record<Item, number> {
  const orders = a["orders a day"] * a["days a month"];
  const deliveries = orders * a["deliveries of a message"];
  const posts = orders / a["orders in a request"];
  const batches = deliveries / a["messages in a batch, on average"];
  const looks = orders * a["looks at an order"];
  return {
    // A POST, a look, a batch and an instance are one request each.
    requests: posts + looks + batches + orders,
    "CPU ms":
      (posts + looks) * a["CPU ms of a request"] +
      batches * a["CPU ms of a batch"] +
      orders * a["CPU ms of an instance"],
    // Written once, deleted once, read at each delivery.
    "queue operations": 2 * orders + deliveries,
    "Workflow steps": orders * a["steps of an instance"],
    "Workflow GB":
      (a["orders a day"] * a["days that an instance is kept"] * a["KB of an instance"]) / 1e6,
    "D1 rows written": orders * a["rows written for an order"],
    "D1 rows read": orders * a["rows read for an order"],
    "D1 GB": (a["orders a day"] * a["days that a row is kept"] * a["bytes of a row"]) / 1e9,
  };
}

/** What each item costs in a month, in US dollars, and all of it. */
export function billOf(a: Assumptions): { items: Record<Item, number>; total: number } {
  const usage = usageOf(a);
  const items = { ...usage };
  for (const item of Object.keys(PRICES) as Item[]) {
    const { included, price, per } = PRICES[item];
    items[item] = (Math.max(0, usage[item] - included) / per) * price;
  }
  const total = Object.values(items).reduce((sum, cost) => sum + cost, SUBSCRIPTION);
  return { items, total };
}

/** What the peak asks for, beside the limit it meets. */
export function loadOf(a: Assumptions): { what: string; load: number; limit: number }[] {
  const average = a["orders a day"] / (24 * 60 * 60);
  const peak = average * a["peak, to the average"];
  const creates = LIMITS["creates a second, for a Workflow"];
  const loads: Record<keyof typeof LIMITS, number> = {
    "messages a second, for a queue": peak,
    "creates a second, for a Workflow": peak,
    "instances that run at a time, for an account":
      Math.min(peak, creates) * a["seconds of an instance"],
    // Were nothing to finish for an hour.
    "instances that are queued": Math.min(peak, creates) * 3600,
    "orders in one D1 database of 10 GB":
      a["orders a day"] * a["days that a row is kept"] * a["bytes of a row"],
  };
  return (Object.keys(LIMITS) as (keyof typeof LIMITS)[]).map((what) => {
    const unit = what.startsWith("orders in one") ? a["bytes of a row"] : 1;
    return { what, load: loads[what] / unit, limit: LIMITS[what] / unit };
  });
}

/** Messages that wait at the end of an hour of peak, since instances are created more slowly than orders come. */
export function backlogOf(a: Assumptions): number {
  const peak = (a["orders a day"] / (24 * 60 * 60)) * a["peak, to the average"];
  return Math.max(0, peak - LIMITS["creates a second, for a Workflow"]) * 3600;
}

/** Trips to D1 in a second, at the peak: a database runs one query at a time. */
export function d1TripsOf(a: Assumptions): number {
  const peak = (a["orders a day"] / (24 * 60 * 60)) * a["peak, to the average"];
  const forAnOrder =
    D1_TRIPS.request / a["orders in a request"] +
    (D1_TRIPS.batch * a["deliveries of a message"]) / a["messages in a batch, on average"] +
    D1_TRIPS.result +
    D1_TRIPS.look * a["looks at an order"];
  return peak * forAnOrder;
}

const number = (value: number) =>
  value.toLocaleString("en-US", { maximumFractionDigits: value < 100 ? 2 : 0 });
const dollars = (value: number) => `$${value.toFixed(2)}`;
const table = (head: string[], rows: string[][]) =>
  [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

/** The tables of docs/scale.md, by name. */
export function tablesOf(a: Assumptions): Record<string, string> {
  const usage = usageOf(a);
  const { items, total } = billOf(a);
  const variants: [string, Partial<Assumptions>][] = [
    ["as it is", {}],
    ["the result recorded in a step of its own", { "steps of an instance": 4 }],
    ["a hundred orders in a request", { "orders in a request": 100 }],
    ["progress written into the row, step by step", { "rows written for an order": 7 }],
    ["every message delivered twice", { "deliveries of a message": 2 }],
    ["instances kept for 30 days", { "days that an instance is kept": 30 }],
    ["a tenth of the orders", { "orders a day": a["orders a day"] / 10 }],
  ];
  return {
    assumptions: table(
      ["assumed", "value"],
      Object.entries(a).map(([name, value]) => [name, number(value)]),
    ),
    bill: table(
      ["in a month", "used", "included", "cost"],
      [
        ["subscription", "", "", dollars(SUBSCRIPTION)],
        ...(Object.keys(PRICES) as Item[]).map((item) => [
          item,
          number(usage[item]),
          number(PRICES[item].included),
          dollars(items[item]),
        ]),
        ["**together**", "", "", `**${dollars(total)}**`],
      ],
    ),
    limits: table(
      ["at the peak", "load", "limit", "of it"],
      loadOf(a).map(({ what, load, limit }) => [
        what,
        number(load),
        number(limit),
        `${number((100 * load) / limit)} %`,
      ]),
    ),
    variants: table(
      ["what if", "a month", "for a thousand orders"],
      variants.map(([name, change]) => {
        const changed = { ...a, ...change };
        const cost = billOf(changed).total;
        const thousands = (changed["orders a day"] * changed["days a month"]) / 1000;
        return [name, dollars(cost), `$${(cost / thousands).toFixed(3)}`];
      }),
    ),
  };
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(tablesOf(ASSUMPTIONS))) {
    console.log(`${name}\n\n${text}\n`);
  }
  console.log(`backlog after an hour of peak: ${number(backlogOf(ASSUMPTIONS))} messages`);
  console.log(`trips to D1 at the peak: ${number(d1TripsOf(ASSUMPTIONS))} a second`);
}
