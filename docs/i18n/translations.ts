/** A sentence that comes from code, and what it is in another language: `$1` is what the pattern's first group found. */
export type Translation = readonly [pattern: RegExp, translation: string];

/** The text in the language of these translations; undefined where none of them fits. */
export function translated(text: string, translations: readonly Translation[]): string | undefined {
  const found = translations.find(([pattern]) => pattern.test(text));
  return found && text.replace(...found);
}
