const known = new Map<string, string>();

/** One copy of a string that comes again and again: a hundred thousand rows have few parties and templates. */
export function interned(text: string): string {
  const found = known.get(text);
  if (found !== undefined) return found;
  known.set(text, text);
  return text;
}
