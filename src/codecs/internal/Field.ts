import type * as t from 'io-ts';
import { invalid, plainOf, readBy, under, type Read, type Why } from './Codec.js';
import { isPlain, type Plain } from './Plain.js';

/** A field of a message. */
export interface Field {
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
export function fieldOf(key: string, codec: t.Mixed): Field {
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
export function valueOf({ key, codec, read, plain, ofNull }: Field, value: unknown, why: Why | undefined): unknown {
  if (isPlain(plain, value)) return value;
  if (value === null && ofNull !== invalid) return ofNull;
  return read(value, why && under(why, key, codec, value));
}
