/** What `jsonb` stores of some values, and what they were where that is not the same. */
interface StorableJson {
  /** JSON of each value that `jsonb` accepts; `undefined` for a value that is absent. */
  readonly texts: readonly (string | undefined)[];
  /** JSON of the list of values as they are, for a column of the type `json`; absent if `jsonb` stores them as they are. */
  readonly asSent?: string;
}

/**
 * Writes values as JSON that `jsonb` accepts. PostgreSQL has no character NUL in texts, and no half of a surrogate pair;
 * U+FFFD, the replacement character, takes their place.
 */
export function toStorableJson(values: readonly unknown[]): StorableJson {
  // JSON.stringify has no text for what is absent
  const texts = values.map((value) => JSON.stringify(value) as string | undefined);
  if (!texts.some((text) => text !== undefined && mayBeUnstorable(text))) return { texts };
  const storable = values.map((value) => JSON.stringify(value, cleanKeysAndTexts) as string | undefined);
  return storable.every((text, index) => text === texts[index])
    ? { texts }
    : { texts: storable, asSent: `[${texts.map((text) => text ?? 'null').join(',')}]` };
}

/** JSON of the rows of a statement, whose JSON is text. */
export const toJsonParameter = (rows: object): string => {
  const text = JSON.stringify(rows);
  return mayBeUnstorable(text) ? JSON.stringify(rows, cleanKeysAndTexts) : text;
};

/** A text that PostgreSQL can store. */
export const toStorableText = (text: string): string => text.replaceAll(unstorable, '\uFFFD');

/** NUL, or a surrogate without its other half. */
const unstorable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Whether JSON may have such a character, which is escaped there. It may also have a backslash before such letters. */
const mayBeUnstorable = (text: string): boolean => text.includes(String.raw`\u0000`) || text.includes(String.raw`\ud`);

/** A replacer of `JSON.stringify`. */
function cleanKeysAndTexts(_: string, part: unknown): unknown {
  if (typeof part === 'string') return toStorableText(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [toStorableText(key), value as unknown]));
}
