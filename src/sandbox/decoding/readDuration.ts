import type { Cursor } from './Cursor.js';

/** A duration of seconds and nanoseconds, in milliseconds. */
export function readDuration(cursor: Cursor): number {
  return cursor.field('seconds').integer() * 1000 + cursor.field('nanos').integer() / 1e6;
}
