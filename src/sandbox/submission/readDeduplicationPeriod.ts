import type { Cursor } from '../decoding/Cursor.js';
import { readDuration } from '../decoding/readDuration.js';
import { undecodable } from '../decoding/undecodable.js';
import { refused } from '../errors/refused.js';
import type { Accepted } from './Accepted.js';

const longestMs = 7 * 24 * 3600 * 1000;

/** Reads a deduplication period as the question whether an earlier commit is within it. */
export function readDeduplicationPeriod(cursor: Cursor): (earlier: Accepted) => boolean {
  const [kind, content] = cursor.oneOf();
  if (kind === 'Empty') return ({ at }) => Date.now() - at <= longestMs;
  const value = content.required('value');
  if (kind === 'DeduplicationOffset') {
    const offset = value.integer();
    return ({ completionOffset }) => completionOffset > offset;
  }
  if (kind !== 'DeduplicationDuration') throw undecodable(`Unknown variant ${kind} at '${cursor.at}'`);
  const periodMs = readDuration(value);
  if (periodMs < 0 || periodMs > longestMs) {
    throw refused('INVALID_DEDUPLICATION_PERIOD', 'The deduplication period is negative or longer than the maximum', {
      context: { longest_duration: 'PT168H' },
    });
  }
  return ({ at }) => Date.now() - at <= periodMs;
}
