/** Columns of a table, with their definitions in SQL, such as `bigint NOT NULL`. */
export type Columns = Readonly<Record<string, string>>;

/** A row of a table. JSON in it is text, and so are bytes, in base64. */
export type Row<C extends Columns> = { [K in RequiredOf<C>]: ValueOf<C[K]> } & {
  [K in Exclude<keyof C, RequiredOf<C>>]?: ValueOf<C[K]> | undefined;
};

type RequiredOf<C extends Columns> = { [K in keyof C]: C[K] extends `${string} NOT NULL` ? K : never }[keyof C];

type TypeOf<D extends string> = D extends `${infer T} ${string}` ? T : D;

type ValueOf<D extends string> = TypeOf<D> extends keyof Values ? Values[TypeOf<D>] : string;

/** The values of columns other than texts. */
interface Values {
  readonly int: number;
  readonly bigint: number;
  readonly boolean: boolean;
  readonly 'text[]': readonly string[];
}

/** Returns the type of a column: the first word of its definition. */
export const typeOf = (definition: string): string => definition.split(' ', 1)[0] ?? '';

/** Returns the definitions of columns, for `CREATE TABLE`. */
export const definitionsOf = (columns: Columns): string =>
  Object.entries(columns)
    .map(([name, definition]) => `"${name}" ${definition}`)
    .join(', ');

/** Returns the names of columns, quoted and separated by commas. */
export const namesOf = (columns: Columns): string =>
  Object.keys(columns)
    .map((name) => `"${name}"`)
    .join(', ');

/**
 * Returns SQL for the rows of the JSON in a parameter. JSON within it is text, which is parsed once.
 *
 * @param parameter - such as `$1`
 */
export const rowsFrom = (parameter: string, columns: Columns): string => {
  const all = Object.entries(columns).map(([name, definition]) => ({ name: `"${name}"`, type: typeOf(definition) }));
  const select = all.map(({ name, type }) => `${readers[type]?.(`i.${name}`) ?? `i.${name}`} AS ${name}`);
  const declare = all.map(({ name, type }) => `${name} ${type in readers ? 'text' : type}`);
  return `(SELECT ${select.join(', ')} FROM jsonb_to_recordset(${parameter}) AS i(${declare.join(', ')}))`;
};

/** How to read columns that are text in a parameter. */
const readers: Readonly<Partial<Record<string, (name: string) => string>>> = {
  jsonb: (name) => `${name}::jsonb`,
  json: (name) => `${name}::json`,
  bytea: (name) => `decode(${name}, 'base64')`,
};

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
