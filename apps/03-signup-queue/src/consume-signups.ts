import { consumeOnce } from "@durable-lessons/idempotency";
import { outsideWorld, ProviderError } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { keepDeadLetter } from "./keep-dead-letter.ts";
import { noteFailures } from "./note-failures.ts";

/** Sends one welcome mail per signup, however often its message comes. */
export async function consumeSignups(batch: MessageBatch, env: ConsumerEnv): Promise<void> {
  const outcomes = await consumeOnce(batch, {
    db: env.DB,
    // A body that has no key now will have none after a retry: what throws here is a permanent failure.
    key: (message) => readSignup(message).id,
    handler: (message, { key }) => sendWelcomeMail(message, key, env),
    // It is kept for a person, and its neighbours are served.
    onPermanentFailure: (message, error) => keepDeadLetter(message, env, reasonOf(error)),
  });
  await noteFailures(batch, outcomes, env);
}

async function sendWelcomeMail(message: Message, key: string, env: ConsumerEnv): Promise<void> {
  const { id, email, name } = readSignup(message);
  const { mail } = outsideWorld(env, id);
  const hello = name ? `Hello ${name},` : "Hello,";
  try {
    // Between the mail and its mark in D1 this Worker can die. The provider knows the key then, and sends nothing.
    await mail.send({ to: email, subject: "Welcome", text: `${hello} good to have you.`, key });
  } catch (error) {
    // The same person in another spelling, and the first mail is out although its mark is missing.
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
