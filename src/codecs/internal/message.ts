import type * as t from 'io-ts';
import {
  Codec,
  invalid,
  isPlain,
  isRecord,
  type Plain,
  plainOf,
  type Read,
  readBy,
  under,
  type Why,
  wrong,
} from './Codec.js';

/** A field of a message. */
interface Field {
  readonly key: string;
  readonly codec: t.Mixed;
  readonly read: Read<unknown>;
  /** Values that need no reading. */
  readonly plain: Plain;
  /** What `null` is read as. */
  readonly ofNull: unknown;
  /** Whether its absence is wrong, or something is put in its place. */
  readonly isNeeded: boolean;
}

/** The field under a key. */
function fieldOf(key: string, codec: t.Mixed): Field {
  const read = readBy(codec);
  return {
    key,
    codec,
    read,
    plain: plainOf(codec),
    ofNull: read(null, undefined),
    isNeeded: key !== '_tag' && read(undefined, undefined) !== undefined,
  };
}

/** What a field's value is decoded to. */
function valueOf({ key, codec, read, plain, ofNull }: Field, value: unknown, why: Why | undefined): unknown {
  if (isPlain(plain, value)) return value;
  if (value === null && ofNull !== invalid) return ofNull;
  return read(value, why && under(why, key, codec, value));
}

/** One codec a field; what may be absent in `A` takes a codec that says so: `optional`, `nullable`, `withDefault`. */
type FieldsOf<A> = {
  readonly [K in keyof A]-?: object extends Pick<A, K> ? t.Type<A[K] | undefined, unknown> : t.Type<A[K], unknown>;
} & Readonly<Record<string, t.Mixed>>;

/**
 * A JSON object with the given fields. Fields that it does not know are kept, so that what a newer ledger adds reaches
 * the user, or refused, if it is `closed`. A field that decodes or encodes to `undefined` is left out.
 */
export function message<A extends object>(name: string, fields: FieldsOf<A>, closed = false): t.Type<A, unknown> {
  const known = new Map(Object.entries<t.Mixed>(fields).map(([key, codec]) => [key, fieldOf(key, codec)]));
  // where the last object had them: most likely the next has them there as well, and a look is cheaper than a search
  const places: (Field | undefined)[] = [...known.values()];
  const _tag: t.Mixed | undefined = fields['_tag'];
  const isTagged = _tag !== undefined;
  const tagged: unknown = _tag && readBy(_tag)(undefined, undefined);
  // of a request all: it may be of a class, with accessors that no loop over its own fields meets
  const isSought = ({ isNeeded }: Field): boolean => isNeeded || closed;
  const sought = [...known.values()].filter(isSought);
  const isStranger = (key: string): boolean => !known.has(key);
  // every field of A is in its place when none of them failed
  const isComplete = (_decoded: object, isRight: boolean): _decoded is A => isRight;
  const self: t.Type<A, unknown> = new Codec<A>(
    name,
    (u): u is A =>
      isRecord(u) &&
      !(closed && Object.keys(u).some(isStranger)) &&
      [...known.values()].every(({ key, codec }) => codec.is(u[key])),
    (u, why) => {
      if (!isRecord(u)) return wrong(u, why);
      const decoded: Record<string, unknown> = isTagged ? { _tag: tagged } : {};
      let isRight = true;
      let found = 0;
      let place = 0;
      // in the object's own order, in which the engine reads it fastest
      for (const key in u) {
        let field = places[place];
        if (field?.key !== key) {
          field = known.get(key);
          if (place < places.length) places[place] = field;
        }
        place += 1;
        if (field === undefined) {
          if (closed) isRight = wrong(u, under(why, key, self, u), 'no such field here') !== invalid;
          else keep(decoded, key, u[key]);
        } else {
          const a = valueOf(field, u[key], why);
          if (isSought(field)) found += 1;
          if (a === invalid) isRight = false;
          else if (a !== undefined) decoded[key] = a;
        }
        if (!isRight && why === undefined) return invalid;
      }
      for (const field of found < sought.length ? sought : []) {
        if (Object.hasOwn(decoded, field.key) || (!isRight && field.key in u)) continue;
        const a = valueOf(field, u[field.key], why);
        if (a === invalid) isRight = false;
        else if (a !== undefined) decoded[field.key] = a;
      }
      return isComplete(decoded, isRight) ? decoded : invalid;
    },
    (a) => {
      if (!isRecord(a)) return a;
      const encoded: Record<string, unknown> = { ...a };
      for (const { key, codec } of known.values()) put(encoded, key, codec.encode(encoded[key]));
      return encoded;
    },
  );
  return self;
}

/** Also under a name that an assignment does not set, `__proto__`; the other way is slow. */
function keep(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key in object)
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}

function put(object: Record<string, unknown>, key: string, value: unknown): void {
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the keys are the codec's own, a handful
  if (value === undefined) delete object[key];
  else object[key] = value;
}

/**
 * A {@link message} that refuses fields it does not know. For requests: a field that is misspelt would otherwise be
 * ignored by the ledger, and what it should have asked for would be missing without a word.
 */
export const exact = <A extends object>(name: string, fields: FieldsOf<A>): t.Type<A, unknown> =>
  message(name, fields, true);

/** What stands alone under one key: `{"value": content}`, `{"update": content}`. Decodes to the content. */
export function enveloped<A>(key: string, codec: t.Type<A, unknown>): t.Type<A, unknown> {
  const read = readBy(codec);
  return new Codec<A>(
    `{ ${key}: ${codec.name} }`,
    (u): u is A => codec.is(u),
    (u, why) => {
      if (!isRecord(u)) return wrong(u, why);
      let content: unknown;
      // what the engine enumerates it reads at once; asked for by name, among objects of many kinds, it searches
      for (const name in u) if (name === key) content = u[name];
      return read(content, why && under(why, key, codec, content));
    },
    (a) => ({ [key]: codec.encode(a) }),
  );
}

/** A request's `{"value": content}`, which keeps the wire's form. */
export const valued = <A>(content: t.Type<A, unknown>): t.Type<{ readonly value: A }, unknown> =>
  exact<{ readonly value: A }>(content.name, { value: content });

/** Takes a field's former name for the one it has now, where only the former is there. */
export function renamed<A>(former: string, now: string, codec: t.Type<A, unknown>): t.Type<A, unknown> {
  const read = readBy(codec);
  return new Codec<A>(
    codec.name,
    (u): u is A => codec.is(u),
    (u, why) => {
      if (!isRecord(u) || !(former in u) || now in u) return read(u, why);
      const { [former]: value, ...others } = u;
      return read({ ...others, [now]: value }, why);
    },
    (a) => codec.encode(a),
  );
}
