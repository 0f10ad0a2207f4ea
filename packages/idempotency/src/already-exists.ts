// The platform puts its code at the front of the message and nowhere else (measured locally; a code property is not
// there). Anchored, so that no other error that quotes the code passes for it.
const ALREADY_EXISTS = /^(?:\w*Error: )?\(instance\.already_exists\)(?:\s|$)/;

/** Whether `error` is the platform's refusal to create a Workflow instance whose id is taken. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof Error && ALREADY_EXISTS.test(error.message);
}
