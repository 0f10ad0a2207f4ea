import { createInstanceOnce, instanceIdFor } from "@durable-lessons/idempotency";
import { findInstance } from "@durable-lessons/worker-helpers/instances";
import { DurableObject } from "cloudflare:workers";
import { DELIVERED } from "./restock-workflow.ts";

/** How the restock of a product stands: of a failed one nobody knows whether its truck comes. */
export interface Restock {
  instanceId: string;
  state: "none" | "on its way" | "failed";
  reason: string | null;
}

/**
 * One object per product. It starts a restock run when no truck is on its way, and the next one when that has come: "one at
 * a time" needs a memory that everybody asks, which an instance id alone is not.
 */
export class Shelf extends DurableObject<Env> {
  /** Starts a restock of this product, unless one is under way or has failed. */
  restock(sku: string): Promise<Restock & { started: boolean }> {
    return this.#inTurn(async () => {
      const restock = await this.#look(sku);
      if (restock.state !== "none") return { ...restock, started: false };
      const { instanceId } = restock;
      await createInstanceOnce(this.env.RESTOCK, { id: instanceId, params: { sku } });
      this.ctx.storage.kv.put("begun", this.#nth);
      return { instanceId, state: "on its way", reason: null, started: true };
    });
  }

  /** Notes that the truck has come, or never will: then the next restock may start. */
  delivered(sku: string): Promise<Restock> {
    return this.#inTurn(async () => {
      const restock = await this.#look(sku);
      if (restock.state === "on its way") {
        const instance = await this.env.RESTOCK.get(restock.instanceId);
        await instance.sendEvent({ type: DELIVERED, payload: null });
      }
      if (restock.state !== "none") this.#turnPage();
      return restock;
    });
  }

  /** Tells how the restock of this product stands. */
  look(sku: string): Promise<Restock> {
    return this.#inTurn(() => this.#look(sku));
  }

  async #look(sku: string): Promise<Restock> {
    const instanceId = await instanceIdFor("restock", sku, this.#nth);
    const instance = await findInstance(this.env.RESTOCK, instanceId);
    // The platform forgets a run after its retention. The shelf does not, or the same id would order once more.
    if (instance) this.ctx.storage.kv.put("begun", this.#nth);
    else if (this.ctx.storage.kv.get("begun") !== this.#nth) {
      return { instanceId, state: "none", reason: null };
    }
    const { status, error } = (await instance?.status()) ?? { status: "forgotten" };
    if (status === "complete") {
      this.#turnPage();
      return this.#look(sku);
    }
    if (["errored", "terminated", "forgotten"].includes(status)) {
      const reason = error?.message ?? `Its run is ${status}.`;
      return { instanceId, state: "failed", reason };
    }
    return { instanceId, state: "on its way", reason: null };
  }

  /** The number of the run that is under way, or comes next. */
  get #nth(): number {
    return this.ctx.storage.kv.get<number>("nth") ?? 1;
  }

  #turnPage(): void {
    this.ctx.storage.kv.put("nth", this.#nth + 1);
  }

  #last: Promise<unknown> = Promise.resolve();

  /** An object has one thread, but lets the next asker in at each `await`. Here they line up. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
