import { microsOf } from '../wire/microsOf.js';
import type { Cursor } from './Cursor.js';
import { undecodable } from './undecodable.js';

/** A timestamp, in microseconds since the epoch. */
export function readTimestamp(cursor: Cursor): number {
  const value = cursor.string();
  const micros = microsOf(value);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z$/.test(value) && !Number.isNaN(micros)) return micros;
  throw undecodable(`Text '${value}' could not be parsed at '${cursor.at}'`);
}
