import { EFFECTS, type EffectKind } from "@durable-lessons/types";
import { call, numberOf, type Receipt, receiptOf } from "./call.ts";
import { type ModelAnswer, type ModelInput, textOf } from "./stand-in.ts";

/** The bindings that the outside world needs. Without the optional ones mail and alerts are only remembered. */
export interface WorldBindings {
  WORLD: D1Database;
  /** Where alerts go: the URL of something that takes a POST of `{ "text": … }`, as chats and pagers do. */
  ALERT_WEBHOOK?: string;
  /** The sender's address; {@link DEFAULT_SENDER} where nothing is deployed. */
  MAIL_FROM?: string;
  EMAIL?: { send(message: EmailMessageBuilder): Promise<unknown> };
}

/** Every request may carry an idempotency key: the same key again returns the first receipt and has no effect. */
export interface Keyed {
  /** At most once per key and run. Without a key every request is a new one. */
  key?: string;
}

/** An email to send. */
export interface Email extends Keyed {
  to: string;
  subject: string;
  text: string;
}

/** A message to whoever is on duty. */
interface Alert extends Keyed {
  subject: string;
  text: string;
}

/** An order line. */
export interface StockLine {
  sku: string;
  quantity: number;
}

/** The answer of the payment provider. A decline is an answer, not an error. */
export type ChargeResult =
  | { status: "charged"; chargeId: string }
  | { status: "declined"; code: string; message: string };

/** What the lessons cannot take back. Every method throws `ProviderError` where the run's faults say so. */
export interface OutsideWorld {
  accounts: {
    /** Opens an account (`account.opened`). */
    open(request: Keyed & { userId: string }): Promise<{ accountId: string }>;
  };
  alerts: {
    /**
     * Tells whoever is on duty (`alert.sent`), with a POST to `ALERT_WEBHOOK` where that is a URL: another way than mail, which may
     * be what is down.
     */
    send(alert: Alert): Promise<{ messageId: string }>;
  };
  audit: {
    /** Writes a line into a log that is kept for ever (`audit.logged`). */
    log(request: Keyed & { line: string }): Promise<{ entryId: string }>;
  };
  carrier: {
    /** Hands a parcel over (`parcel.shipped`). */
    ship(request: Keyed & { orderId: string }): Promise<{ parcelId: string }>;
    /** Finds the parcel that a request with this key handed over, or null. Asking changes nothing. */
    find(request: { key: string }): Promise<{ parcelId: string } | null>;
    /** Has an order's parcel stopped and brought back, wherever it is (`parcel.recalled`). */
    recall(request: Keyed & { orderId: string }): Promise<{ recallId: string }>;
  };
  mail: {
    /** Sends an email (`email.sent`); it goes through the `send_email` binding where there is one. */
    send(email: Email): Promise<{ messageId: string }>;
    /** Reminds somebody by email (`reminder.sent`), which goes out in the same way. */
    remind(email: Email): Promise<{ messageId: string }>;
  };
  model: {
    /**
     * Has a text written (`model.called`), in the shape of Workers AI's `env.AI.run`. Whatever model is named, a stand-in
     * answers. Another call with the same input gives another text, as a model's would; the same key gives the same one.
     */
    run(model: string, input: ModelInput, options?: Keyed): Promise<ModelAnswer>;
  };
  payments: {
    /** Charges a card (`card.charged`, or `card.declined`). */
    charge(
      request: Keyed & { orderId: string; card: string; cents: number },
    ): Promise<ChargeResult>;
    /** Finds what a request with this key came to, or null. Asking changes nothing. */
    find(request: { key: string }): Promise<ChargeResult | null>;
    /** Pays a charge back (`card.refunded`). */
    refund(request: Keyed & { chargeId: string; cents: number }): Promise<{ refundId: string }>;
  };
  site: {
    /** Puts an article where everybody reads it (`article.published`). */
    publish(
      request: Keyed & { articleId: string; text: string },
    ): Promise<{ publicationId: string }>;
  };
  source: {
    /** Reads a file of whoever delivers the data, who counts every read (`source.read`). Its text is made up. */
    read(request: Keyed & { file: string; bytes: number }): Promise<{ text: string }>;
  };
  stock: {
    /** Reserves stock for an order (`stock.reserved`). */
    reserve(
      request: Keyed & { orderId: string; lines: StockLine[] },
    ): Promise<{ reservationId: string }>;
    /** Gives a reservation back (`stock.released`). */
    release(request: Keyed & { orderId: string }): Promise<{ releaseId: string }>;
  };
  warehouse: {
    /** Loads what came out of a file (`rows.loaded`). */
    load(request: Keyed & { file: string; rows: number }): Promise<{ loadId: string }>;
  };
}

/** Good for what leaves no machine. Cloudflare sends from a domain of one's own only ("Send emails from Workers"). */
const DEFAULT_SENDER = "hello@example.com";

/**
 * The outside world of one run.
 *
 * @param env the bindings: `WORLD`, and `EMAIL` where mail shall really go out
 * @param run keys the effects and the faults; a lesson passes its instance id
 */
export function outsideWorld(env: WorldBindings, run: string): OutsideWorld {
  const request = call.bind(null, env.WORLD, run);
  const sendEmail = async (
    operation: "mail.remind" | "mail.send",
    kind: EffectKind,
    { key, ...detail }: Email,
  ) => {
    const from = { email: env.MAIL_FROM ?? DEFAULT_SENDER, name: "Durable Lessons" };
    const { EMAIL } = env;
    const reallyDo = EMAIL && (() => EMAIL.send({ from, ...detail }));
    const { id } = await request({ operation, kind, detail, key, reallyDo });
    return { messageId: id };
  };
  return {
    accounts: {
      async open({ key, ...detail }) {
        const kind = EFFECTS.accountOpened;
        const { id } = await request({ operation: "accounts.open", kind, detail, key });
        return { accountId: id };
      },
    },
    alerts: {
      async send({ key, ...detail }) {
        const kind = EFFECTS.alertSent;
        const { ALERT_WEBHOOK: url = "" } = env;
        const reallyDo = URL.canParse(url) ? () => postAlert(url, detail) : undefined;
        const { id } = await request({ operation: "alerts.send", kind, detail, key, reallyDo });
        return { messageId: id };
      },
    },
    audit: {
      async log({ key, ...detail }) {
        const kind = EFFECTS.auditLogged;
        const { id } = await request({ operation: "audit.log", kind, detail, key });
        return { entryId: id };
      },
    },
    carrier: {
      async ship({ key, ...detail }) {
        const kind = EFFECTS.parcelShipped;
        const { id } = await request({ operation: "carrier.ship", kind, detail, key });
        return { parcelId: id };
      },
      async find({ key }) {
        const receipt = await receiptOf(env.WORLD, run, key);
        return receipt && { parcelId: receipt.id };
      },
      async recall({ key, ...detail }) {
        const kind = EFFECTS.parcelRecalled;
        const { id } = await request({ operation: "carrier.recall", kind, detail, key });
        return { recallId: id };
      },
    },
    mail: {
      send: (email) => sendEmail("mail.send", EFFECTS.emailSent, email),
      remind: (email) => sendEmail("mail.remind", EFFECTS.reminderSent, email),
    },
    model: {
      async run(model, { messages }, { key } = {}) {
        const kind = EFFECTS.modelCalled;
        const detail = { model, messages };
        const receipt = await request({ operation: "model.run", kind, detail, key });
        return { response: textOf(messages, await numberOf(env.WORLD, receipt)) };
      },
    },
    payments: {
      async charge({ key, ...detail }) {
        const receipt = await request({
          operation: "payments.charge",
          kind: EFFECTS.cardCharged,
          declinedKind: EFFECTS.cardDeclined,
          detail,
          key,
        });
        return chargeResult(receipt);
      },
      async find({ key }) {
        const receipt = await receiptOf(env.WORLD, run, key);
        return receipt && chargeResult(receipt);
      },
      async refund({ key, ...detail }) {
        const kind = EFFECTS.cardRefunded;
        const { id } = await request({ operation: "payments.refund", kind, detail, key });
        return { refundId: id };
      },
    },
    site: {
      async publish({ key, ...detail }) {
        const kind = EFFECTS.articlePublished;
        const { id } = await request({ operation: "site.publish", kind, detail, key });
        return { publicationId: id };
      },
    },
    source: {
      async read({ key, ...detail }) {
        const kind = EFFECTS.sourceRead;
        await request({ operation: "source.read", kind, detail, key });
        return { text: "sale\n".repeat(Math.ceil(detail.bytes / 5)).slice(0, detail.bytes) };
      },
    },
    stock: {
      async reserve({ key, ...detail }) {
        const kind = EFFECTS.stockReserved;
        const { id } = await request({ operation: "stock.reserve", kind, detail, key });
        return { reservationId: id };
      },
      async release({ key, ...detail }) {
        const kind = EFFECTS.stockReleased;
        const { id } = await request({ operation: "stock.release", kind, detail, key });
        return { releaseId: id };
      },
    },
    warehouse: {
      async load({ key, ...detail }) {
        const kind = EFFECTS.rowsLoaded;
        const { id } = await request({ operation: "warehouse.load", kind, detail, key });
        return { loadId: id };
      },
    },
  };
}

async function postAlert(url: string, { subject, text }: Alert): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: `${subject}: ${text}` }),
    signal: AbortSignal.timeout(10_000),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The alert was answered ${response.status}.`);
}

function chargeResult({ id, kind }: Receipt): ChargeResult {
  if (kind === EFFECTS.cardCharged) return { status: "charged", chargeId: id };
  return {
    status: "declined",
    code: "card_declined",
    message: "[simulated] the bank declined the card",
  };
}
