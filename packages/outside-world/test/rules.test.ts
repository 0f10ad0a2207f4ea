import type { EffectKind } from "@durable-lessons/types";
import { describe, expect, test } from "vitest";
import { alwaysBroken, type Effect, endedWrong, missing, stillOut } from "../src/rules.ts";

let nth = 0;
const effect = (kind: EffectKind, detail: object): Effect => ({
  id: `${kind.replace(".", "_")}_${++nth}`,
  kind,
  key: null,
  detail,
  names: [],
  at: nth,
});
const charge = (orderId = "o", cents = 900) =>
  effect("card.charged", { orderId, card: "tok", cents });
const refund = ({ id }: Effect, cents = 900) => effect("card.refunded", { chargeId: id, cents });
const mail = (to: string, subject = "Welcome", text = "") =>
  effect("email.sent", { to, subject, text });
const reserve = (sku = "tea") => effect("stock.reserved", { orderId: "o", lines: [{ sku }] });
const release = () => effect("stock.released", { orderId: "o" });
const ship = () => effect("parcel.shipped", { orderId: "o" });
const recall = () => effect("parcel.recalled", { orderId: "o" });

const rulesOf = (broken: { rule: string }[]) => broken.map(({ rule }) => rule);

describe("whatever happens", () => {
  const broken = (...effects: Effect[]) => rulesOf(alwaysBroken({ status: "complete", effects }));

  test("no card is charged twice for one order, and two orders are two", () => {
    expect(broken(charge(), charge())).toEqual(["charged-once"]);
    expect(broken(charge("a"), charge("b"))).toEqual([]);
  });

  test("refunds never exceed the charge that they name", () => {
    const paid = charge();
    expect(broken(paid, refund(paid))).toEqual([]);
    expect(broken(paid, refund(paid, 500), refund(paid, 400))).toEqual([]);
    expect(broken(paid, refund(paid, 500), refund(paid, 500))).toContain("refunds-within-charges");
    expect(broken(paid, refund(charge("another")))).toEqual(["refunds-within-charges"]);
  });

  test("nobody gets a mail twice on one matter, whatever its words; on another matter they do", () => {
    expect(broken(mail("ada", "Hi", "1"), mail("ada", "Hi", "2"))).toEqual(["mailed-once"]);
    expect(broken(mail("ada", "Hi"), mail("ada", "Bye"), mail("bob", "Hi"))).toEqual([]);
  });

  test("nothing else is done twice, but what changes nothing", () => {
    expect(broken(ship(), ship())).toEqual(["done-once"]);
    expect(broken(reserve("tea"), reserve("cup"))).toEqual([]);
    const read = () => effect("source.read", { file: "a" });
    expect(broken(read(), read())).toEqual([]);
  });
});

describe("what was seen twice is told in words", () => {
  const saw = (...effects: Effect[]) =>
    alwaysBroken({ status: "complete", effects }).map((broken) => broken.saw);

  test.each([
    ["an order", charge(), "card.charged 2 times for order o"],
    ["a mail", mail("sha256:1", "Hi", "sha256:2"), 'email.sent 2 times to one address, "Hi"'],
    [
      "what it was about, without fingerprints",
      effect("article.published", { articleId: "a", text: "sha256:3" }),
      'article.published 2 times for {"articleId":"a"}',
    ],
    [
      "nothing but fingerprints",
      effect("audit.logged", { line: "sha256:4" }),
      "audit.logged 2 times",
    ],
  ])("%s", (_, twice, words) => {
    expect(saw(twice, twice)).toEqual([words]);
  });
});

describe("what is out", () => {
  test("is money, stock and parcels that nobody took back", () => {
    const paid = charge();
    expect(stillOut([paid, reserve(), ship()])).toHaveLength(3);
    expect(stillOut([paid, refund(paid), reserve("tea"), reserve("cup"), release()])).toEqual([]);
    expect(stillOut([ship(), recall()])).toEqual([]);
    expect(stillOut([mail("ada")])).toEqual([]);
  });

  test("belongs to an order: another's refund gives nothing back", () => {
    const [mine, other] = [charge("mine"), charge("other")];
    expect(stillOut([mine, other, refund(other)])).toEqual(["card.charged, and no card.refunded"]);
  });
});

describe("a run that has ended", () => {
  const normal = [charge(), ship(), mail("ada")];
  const wrong = (status: string, ...effects: Effect[]) =>
    rulesOf(endedWrong({ status, effects }, normal));

  test("has done all, if it is complete", () => {
    expect(wrong("complete", charge(), ship(), mail("ada"))).toEqual([]);
    expect(wrong("complete", charge(), ship())).toEqual(["complete-means-all"]);
  });

  test("or has taken all back, and something at all", () => {
    const paid = charge();
    expect(wrong("complete", paid, refund(paid))).toEqual([]);
    expect(wrong("complete")).toEqual(["complete-means-all"]);
    expect(wrong("complete", paid, refund(paid), ship())).toEqual(["complete-means-all"]);
  });

  test("leaves nothing out, if it has failed or was ended", () => {
    const paid = charge();
    expect(wrong("errored", paid)).toEqual(["undone-leaves-nothing"]);
    expect(wrong("terminated", ship())).toEqual(["undone-leaves-nothing"]);
    expect(wrong("errored", paid, refund(paid), mail("ada"))).toEqual([]);
  });
});

test("what is missing is told by kind and number, and a reading is no effect", () => {
  expect(missing([mail("ada")], [mail("ada"), mail("bob"), ship()])).toEqual([
    "1 email.sent",
    "1 parcel.shipped",
  ]);
  expect(missing([], [effect("source.read", { file: "a" })])).toEqual([]);
});
