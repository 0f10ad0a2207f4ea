/** What a model is asked, as Workers AI takes it. */
export interface ModelInput {
  messages: { role: string; content: string }[];
}

/** What a model answers, as Workers AI gives it. */
export interface ModelAnswer {
  response?: string;
}

const OPENINGS = ["In short", "To begin with", "Seen from afar", "As everybody knows"];

/**
 * The text that the stand-in for a model writes: the same for the same messages and number, another one for the next
 * number. It says of itself that no model wrote it.
 */
export function textOf(messages: ModelInput["messages"], number: number): string {
  const wanted = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const opening = OPENINGS[(number - 1) % OPENINGS.length];
  return `[simulated] Text ${number} of a stand-in: no model wrote it.\n\n${opening}: ${wanted}\n`;
}
