import { inspect } from 'node:util';

/** A value that is still to be searched, and its path. */
interface Place {
  readonly value: unknown;
  readonly path: string;
}

/**
 * The paths of secrets in a value: in everything that a logger, a debugger or another program could read from it. Searches
 * own and inherited properties, hidden ones and symbols, the contents of maps, sets, headers and buffers, and the value's
 * printed forms. Closures and `#private` fields are not searched.
 */
export function secretsIn(value: unknown, secrets: readonly string[]): string[] {
  const forbidden = secrets.flatMap(spellings);
  const isForbidden = (text: string): boolean => forbidden.some((secret) => text.includes(secret));
  const found = printings(value).filter(({ value: text }) => isForbidden(text));
  const seen = new Set<unknown>();
  const places: Place[] = [{ value, path: '$' }];
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    const text = textOf(place.value);
    if (text !== undefined && isForbidden(text)) found.push({ value: text, path: place.path });
    if (!isObject(place.value) || seen.has(place.value)) continue;
    seen.add(place.value);
    places.push(...within(place.value, place.path));
  }
  return found.map(({ path }) => path).sort();
}

/** The encodings in which a secret may occur. */
const spellings = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  const quoted = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    quoted,
    encodeURIComponent(secret),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
  ];
};

const isObject = (u: unknown): u is object => (typeof u === 'object' && u !== null) || typeof u === 'function';

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'symbol') return value.description;
  if (typeof value === 'function') return Function.prototype.toString.call(value);
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
  return value instanceof ArrayBuffer ? Buffer.from(value).toString() : undefined;
}

/** The values that are one step away. */
function within(object: object, path: string): readonly Place[] {
  const places: Place[] = entriesOf(object).flatMap(([key, content], index) => [
    { value: key, path: `${path}<key ${index}>` },
    { value: content, path: `${path}<entry ${index}>` },
  ]);
  const isBytes = ArrayBuffer.isView(object);
  for (let owner: unknown = object; isObject(owner); owner = Reflect.getPrototypeOf(owner)) {
    for (const key of Reflect.ownKeys(owner)) {
      const name = typeof key === 'symbol' ? `[${String(key)}]` : `.${key}`;
      // its bytes are searched as one text
      if (isBytes && /^\.\d+$/.test(name)) continue;
      places.push({ value: key, path: `${path}<key${name}>` });
      places.push({ value: tryRead(() => Reflect.get(object, key)), path: `${path}${name}` });
    }
  }
  return places;
}

/** The entries of a map, a set, headers or a form. */
function entriesOf(object: object): readonly (readonly [unknown, unknown])[] {
  const entries: unknown = tryRead(() => ('entries' in object ? object.entries : undefined));
  if (Array.isArray(object) || ArrayBuffer.isView(object) || typeof entries !== 'function') return [];
  const listed: unknown = tryRead((): unknown => Reflect.apply(entries, object, []));
  const isIterable = (u: unknown): u is Iterable<unknown> => isObject(u) && Symbol.iterator in u;
  const pairs: unknown = tryRead(() => (isIterable(listed) ? [...listed] : []));
  return Array.isArray(pairs) ? pairs.filter((pair) => isPair(pair)) : [];
}

const isPair = (u: unknown): u is readonly [unknown, unknown] => Array.isArray(u) && u.length === 2;

/** The texts that a logger writes. */
const printings = (value: unknown): readonly { readonly value: string; readonly path: string }[] =>
  [
    { path: '<string>', print: () => String(value) },
    { path: '<json>', print: () => JSON.stringify(value) },
    { path: '<inspect>', print: () => inspect(value, everything) },
  ].flatMap(({ path, print }) => {
    const text: unknown = tryRead(print);
    return typeof text === 'string' ? [{ path, value: text }] : [];
  });

const everything = {
  depth: Infinity,
  showHidden: true,
  getters: true,
  maxArrayLength: Infinity,
  maxStringLength: Infinity,
  breakLength: Infinity,
};

/** The result of a function, or its error, which may contain a secret, too. */
function tryRead(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}
