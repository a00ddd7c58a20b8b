/** The values as `jsonb` stores them, and the original values if they differ. */
interface StorableJson {
  /** JSON of each value, in a form that `jsonb` accepts; `undefined` for an absent value. */
  readonly texts: readonly (string | undefined)[];
  /** JSON of the original list of values, for a column of the type `json`; absent if `jsonb` stores them unchanged. */
  readonly asSent?: string;
}

/**
 * Writes values as JSON that `jsonb` accepts. PostgreSQL texts cannot contain NUL or a lone surrogate; they are
 * replaced with U+FFFD, the replacement character.
 */
export function toStorableJson(values: readonly unknown[]): StorableJson {
  // JSON.stringify returns undefined for an absent value
  const texts = values.map((value) => JSON.stringify(value) as string | undefined);
  if (!texts.some((text) => text !== undefined && mayBeUnstorable(text))) return { texts };
  const storable = values.map((value) => JSON.stringify(value, cleanKeysAndTexts) as string | undefined);
  return storable.every((text, index) => text === texts[index])
    ? { texts }
    : { texts: storable, asSent: `[${texts.map((text) => text ?? 'null').join(',')}]` };
}

/** Returns JSON of the rows of a statement, in which JSON is text. */
export const toJsonParameter = (rows: object): string => {
  const text = JSON.stringify(rows);
  return mayBeUnstorable(text) ? JSON.stringify(rows, cleanKeysAndTexts) : text;
};

/** Returns a text that PostgreSQL can store. */
export const toStorableText = (text: string): string => text.replaceAll(unstorable, '\uFFFD');

/** NUL, or a lone surrogate. */
const unstorable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/**
 * Whether JSON may contain such a character, which is escaped there. There may also be a backslash before these
 * letters.
 */
const mayBeUnstorable = (text: string): boolean => text.includes(String.raw`\u0000`) || text.includes(String.raw`\ud`);

/** A replacer for `JSON.stringify`. */
function cleanKeysAndTexts(_: string, part: unknown): unknown {
  if (typeof part === 'string') return toStorableText(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [toStorableText(key), value as unknown]));
}
