/** What the providers can be asked to do; and `workflow.create`, which is the platform's, and can be refused like them. */
export type Operation =
  | "accounts.open"
  | "alerts.send"
  | "audit.log"
  | "carrier.recall"
  | "carrier.ship"
  | "mail.remind"
  | "mail.send"
  | "model.run"
  | "payments.charge"
  | "payments.refund"
  | "site.publish"
  | "source.read"
  | "stock.release"
  | "stock.reserve"
  | "warehouse.load"
  | "workflow.create";

/**
 * How one call of a provider goes wrong.
 *
 * - `ok`: it does not; a place holder for the calls before the faulty one
 * - `fail`: an error, and nothing has happened
 * - `fail-after-effect`: it has happened, but the answer is an error
 * - `decline`: the provider's well-formed "no" (payments only)
 * - `hang`: no answer, ever, and nothing has happened
 * - `hang-after-effect`: it has happened, and no answer ever comes
 * - `{ slowMs }`: it has happened, and the answer comes that many milliseconds late
 * - `{ code, message, retryAfterSeconds? }`: like `fail`, with the provider's own words
 * - `report-errors`: of several things asked for in one call the last is refused, which only the answer says
 *   (`workflow.create` with `createBatch({ instances })`)
 */
export type Fault =
  | "ok"
  | "fail"
  | "fail-after-effect"
  | "decline"
  | "hang"
  | "hang-after-effect"
  | "report-errors"
  | { slowMs: number }
  | { code: string; message: string; retryAfterSeconds?: number };

/**
 * The faults of one run: for an operation, what happens at its first, second, … call. Calls beyond the list succeed.
 * `{ always: fault }` never gets better; with `about`, only requests fail in which that text occurs.
 */
export type FaultScript = Partial<Record<Operation, Fault[] | { always: Fault; about?: string }>>;

/** An error of a simulated provider. Its message starts with `[simulated]` and carries the code, since error
 * properties do not survive the way from a Workflow step to its caller (measured locally). */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(operation: Operation, code: string, message: string, retryAfterSeconds?: number) {
    const retry = retryAfterSeconds === undefined ? "" : `; try again in ${retryAfterSeconds} s`;
    super(`[simulated] ${operation}: ${code}: ${message}${retry}`);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
