import type { Offset } from '../codecs/scalars.js';
import { CursorError } from '../errors/process.js';

/**
 * Fails if an update would replace another parked one, which would be lost: after a restore, and at another participant, two updates
 * may have the same offset.
 *
 * @param before - the record at the offset; `undefined` if there is none
 */
export function checkParked(name: string, offset: Offset, before: unknown, parked: unknown): void {
  const [known, next] = [updateIdIn(before), updateIdIn(parked)];
  if (known !== undefined && next !== undefined && known !== next) throw parkedConflict(name, offset);
}

const updateIdIn = (record: unknown): unknown =>
  (Object(record) as { readonly updateId?: unknown }).updateId ?? undefined;

/** The error of a processor that would replace another parked update. */
const parkedConflict = (name: string, offset: Offset): CursorError =>
  new CursorError(
    'conflict',
    name,
    `another update, with an offset of before, is parked at offset ${offset}`,
    'handle what is parked, or drop that update; then start again',
  );
