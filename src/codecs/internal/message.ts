import type * as t from 'io-ts';
import { Codec, invalid, plainOf, readBy, under, wrong, type Read, type Why } from './Codec.js';
import { isRecord } from './isRecord.js';

/** One codec a field; what may be absent in `A` takes a codec that says so: `optional`, `nullable`, `withDefault`. */
export type FieldsOf<A> = {
  readonly [K in keyof A]-?: object extends Pick<A, K> ? t.Type<A[K] | undefined, unknown> : t.Type<A[K], unknown>;
} & Readonly<Record<string, t.Mixed>>;

interface Field {
  readonly key: string;
  readonly codec: t.Mixed;
  readonly read: Read<unknown>;
  /** The `typeof` of values that need no reading. */
  readonly plain: string | undefined;
  /** Whether its absence is wrong, or something is put in its place. */
  readonly isNeeded: boolean;
}

/**
 * A JSON object with the given fields. Fields that it does not know are kept, so that what a newer ledger adds reaches
 * the user, or refused, if it is `closed`. A field that decodes or encodes to `undefined` is left out.
 */
export function message<A extends object>(name: string, fields: FieldsOf<A>, closed = false): t.Type<A, unknown> {
  const known = new Map(Object.entries<t.Mixed>(fields).map(([key, codec]) => [key, fieldOf(key, codec)]));
  const _tag: t.Mixed | undefined = fields['_tag'];
  const isTagged = _tag !== undefined;
  const tagged = _tag && readBy(_tag)(undefined, undefined);
  const needed = [...known.values()].filter(({ isNeeded }) => isNeeded);
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
      // in the object's own order, in which the engine reads it fastest
      for (const key in u) {
        const field = known.get(key);
        if (field === undefined) {
          if (closed) isRight = wrong(u, under(why, key, self, u), 'no such field here') !== invalid;
          else keep(decoded, key, u[key]);
        } else {
          const a = valueOf(field, u[key], why);
          if (field.isNeeded) found += 1;
          if (a === invalid) isRight = false;
          else if (a !== undefined) decoded[key] = a;
        }
        if (!isRight && why === undefined) return invalid;
      }
      for (const field of found < needed.length ? needed : []) {
        if (field.key in u) continue;
        const a = valueOf(field, undefined, why);
        if (a === invalid) isRight = false;
        else decoded[field.key] = a;
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

function fieldOf(key: string, codec: t.Mixed): Field {
  const read = readBy(codec);
  return {
    key,
    codec,
    read,
    plain: plainOf(codec),
    isNeeded: key !== '_tag' && read(undefined, undefined) !== undefined,
  };
}

const valueOf = ({ key, codec, read, plain }: Field, value: unknown, why: Why | undefined): unknown =>
  typeof value === plain ? value : read(value, why && under(why, key, codec, value));

/** Also under a name that a plain assignment does not set. */
function keep(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

function put(object: Record<string, unknown>, key: string, value: unknown): void {
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the keys are the codec's own, a handful
  if (value === undefined) delete object[key];
  else object[key] = value;
}
