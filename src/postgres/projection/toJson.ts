/** A list of rows as JSON that PostgreSQL can store. */
export interface StorableJson {
  readonly text: string;
  /** Whether a character was replaced. */
  readonly isChanged: boolean;
}

/**
 * Writes a value as JSON that `jsonb` accepts. PostgreSQL has no character NUL in texts, and no half of a surrogate pair;
 * U+FFFD, the replacement character, takes their place.
 */
export function toStorableJson(value: unknown): StorableJson {
  const text = JSON.stringify(value);
  if (!mayBeUnstorable(text)) return { text, isChanged: false };
  let isChanged = false;
  const clean = (part: string): string => {
    const storable = part.replaceAll(unstorable, '\uFFFD');
    isChanged ||= storable !== part;
    return storable;
  };
  const cleaned = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string') return clean(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, it]: [string, unknown]) => [clean(key), it]));
  });
  return { text: cleaned, isChanged };
}

/** NUL, or a surrogate without its other half. */
const unstorable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Whether a JSON text may contain such a character: it is escaped there. A backslash before the letters makes no difference. */
const mayBeUnstorable = (text: string): boolean => text.includes(String.raw`\u0000`) || text.includes(String.raw`\ud`);
