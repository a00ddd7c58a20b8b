import type { Cursor } from '../decoding/Cursor.js';
import { readDuration } from '../decoding/readDuration.js';
import { readTimestamp } from '../decoding/readTimestamp.js';
import { undecodable } from '../decoding/undecodable.js';
import { latestMicros } from '../wire/latestMicros.js';

/** The earliest ledger time asked for, in microseconds since the epoch. */
export function readMinLedgerTime(cursor: Cursor): number | undefined {
  const time = cursor.field('time');
  if (time.absent) return undefined;
  const [kind, content] = time.oneOf();
  if (kind === 'Empty') return undefined;
  if (kind === 'MinLedgerTimeAbs') return readTimestamp(content.required('value'));
  if (kind === 'MinLedgerTimeRel') {
    const micros = Math.round((Date.now() + readDuration(content.required('value'))) * 1000);
    if (Math.abs(micros) <= latestMicros) return micros;
  }
  throw undecodable(`Unknown variant or time ${kind} at '${time.at}'`);
}
