import { consumeOnce } from "@durable-lessons/idempotency";
import { outsideWorld, ProviderError } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { alertOperators } from "./alert-operators.ts";
import { keepDeadLetter } from "./keep-dead-letter.ts";
import { noteFailures } from "./note-failures.ts";
import { Pace } from "./pace.ts";

/** Of the mail provider, for all batches of this Worker. */
const pace = new Pace();

/** Sends one welcome email per signup, however often its message comes. */
export async function consumeSignups(batch: MessageBatch, env: ConsumerEnv): Promise<void> {
  const outcomes = await consumeOnce(batch, {
    db: env.DB,
    // A body without a key has none after a retry either: an error here is a permanent failure.
    key: (message) => readSignup(message).id,
    handler: (message, context) => sendWelcomeMail(message, context, env),
    // It is stored for a person, and the others are processed.
    onPermanentFailure: (message, error) => keepDeadLetter(message, env, reasonOf(error)),
  });
  await noteFailures(batch, outcomes, env);
  if (outcomes.some(({ outcome }) => outcome === "permanent failure")) await alertOperators(env);
}

async function sendWelcomeMail(
  message: Message,
  { key, signal }: { key: string; signal: AbortSignal },
  env: ConsumerEnv,
): Promise<void> {
  const { id, email, name } = readSignup(message);
  const { mail } = outsideWorld(env, id);
  const hello = name ? `Hello ${name},` : "Hello,";
  try {
    // This Worker can die between the email and its mark in D1. A provider that takes keys then knows this one, and sends nothing.
    // `send_email` takes none, and sends again: two welcomes are better than none.
    const welcome = { to: email, subject: "Welcome", text: `${hello} good to have you.`, key };
    await pace.run(() => mail.send(welcome), signal);
  } catch (error) {
    // The same person in another spelling, and the first email is out although its mark is missing.
    if (error instanceof ProviderError && error.code === "idempotency_key_reused") return;
    throw error;
  }
}

function readSignup({ body }: Message) {
  const signup = v.safeParse(signupMessage, body);
  if (!signup.success) throw new Error(issuesAsText(signup.issues));
  return signup.output;
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
