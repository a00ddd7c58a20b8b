const known = new Map<string, string>();

/** The first copy of an equal string, which saves memory: a hundred thousand rows have few parties and templates. */
export function interned(text: string): string {
  const found = known.get(text);
  if (found !== undefined) return found;
  known.set(text, text);
  return text;
}
