import { createInstanceOnce, instanceIdFor } from "@durable-lessons/idempotency";
import { DurableObject } from "cloudflare:workers";

/**
 * One object per product. It starts a restock run when there is none, and the next one when that is over: "one at a
 * time" needs a memory that everybody asks, which an instance id alone is not.
 */
export class Shelf extends DurableObject<Env> {
  /** Starts a restock of this product, unless one is under way. */
  async restock(sku: string): Promise<{ instanceId: string; started: boolean }> {
    const nth = this.#nth;
    const id = await instanceIdFor("restock", sku, nth);
    const { instance, created } = await createInstanceOnce(this.env.RESTOCK, {
      id,
      params: { sku },
    });
    if (created || !(await isOver(instance))) return { instanceId: id, started: created };

    // Others may have come in while this call waited, and have seen the same end. Only one of them turns the page, in
    // one go with the look at it, and createInstanceOnce makes one run of whatever they all start.
    if (this.#nth === nth) this.ctx.storage.kv.put("nth", nth + 1);
    return this.restock(sku);
  }

  /** The number of the run that is under way, or was the last. Written before the run is: a crash between finds it. */
  get #nth(): number {
    return this.ctx.storage.kv.get<number>("nth") ?? 1;
  }
}

const isOver = async (instance: WorkflowInstance) =>
  ["complete", "errored", "terminated"].includes((await instance.status()).status);
