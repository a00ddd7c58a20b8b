import type { Offset, Update } from 'canton-rx';

/** The latest updates: all after `begin`, up to `end`. */
export interface Recent {
  readonly begin: Offset;
  readonly end: Offset;
  readonly updates: readonly Update[];
}

/** The number of updates that are kept for clients that lag a little. */
const most = 1_000;

/** A checkpoint only moves the end. */
export function withUpdate({ begin, updates }: Recent, update: Update): Recent {
  const end = update.offset;
  if (update._tag === 'OffsetCheckpoint') return { begin, end, updates };
  if (updates.length < most) return { begin, end, updates: [...updates, update] };
  return { begin: updates[0]?.offset ?? begin, end, updates: [...updates.slice(1), update] };
}
