import { concatMap, defer, from, map, type Observable, of, reduce } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { UpdateFormat } from '../../codecs/UpdateFormat.js';
import type { FeedBatch } from '../../feed/LedgerFeed.js';
import type { UpdatesFeed } from '../../feed/UpdatesOptions.js';
import { batches } from '../../feed/updates.js';
import type { LedgerPosition } from '../../codecs/LedgerPosition.js';
import { advance, type Batch } from '../../history/positions.js';
import type { FeedEntry } from '../Feed.js';
import type { Work } from '../ProcessOptions.js';
import type { Backfill } from './planBackfill.js';
import type { UpdatesPosition } from './UpdatesPosition.js';

/** Returns a feed of the updates of a format, after a position and up to an offset. */
export type PastFeed = (
  updateFormat: UpdateFormat,
  after: LedgerPosition,
  endInclusive: Offset,
  use: 'handle' | 'compare',
) => UpdatesFeed;

type Entry = FeedEntry<Work, UpdatesPosition>;

/**
 * Reads the past of what a request has selected since it was changed, up to the offset of a position, in order. Leaves out the
 * updates that were handled before, because another selection had them: it reads the offsets of those again, where there is
 * anything to compare. The positions keep the offset, and name how far the past was read. The last one has its record times, too.
 */
export const readPast = (
  feedOf: PastFeed,
  { added, own, others }: Backfill,
  base: UpdatesPosition,
  ready$: Observable<unknown>,
): Observable<Batch<Entry, UpdatesPosition>> =>
  defer(() => {
    const { offset: end, participantId } = base;
    const { until, lastUpdate, recordTimes = {} } = own;
    const begin = { offset: until, lastUpdate, participantId, recordTimes };
    const positionAt = (read: LedgerPosition): UpdatesPosition => {
      const { offset, lastUpdate, recordTimes } = read;
      return { ...base, seen: [...others, { ...own, until: offset, lastUpdate, recordTimes }] };
    };
    return batches(feedOf(added, begin, end, 'handle'), ready$).pipe(
      concatMap((batch) => {
        const updates = batch.items.filter(({ _tag }) => _tag !== 'OffsetCheckpoint');
        return offsetsOf(feedOf, others, updates, participantId).pipe(map((known) => ({ batch, known })));
      }),
      map(({ batch: { items, position, origin }, known }) => {
        let reached = origin.before;
        const entries = items.flatMap((update): readonly Entry[] => {
          reached = advance(reached, [update]);
          if (update._tag === 'OffsetCheckpoint' || known.has(update.offset)) return [];
          const content = update._tag === 'UndecodedUpdate' ? update : ({ ...update, isBackfill: true } as Work);
          return [{ position: positionAt(reached), content }];
        });
        return { items: entries, position: positionAt(position), isCaughtUp: false };
      }),
    );
  });

/** Reads the offsets of the updates that other selections had, in the range of some updates. */
const offsetsOf = (
  feedOf: PastFeed,
  others: Backfill['others'],
  updates: FeedBatch['items'],
  participantId: string | undefined,
): Observable<ReadonlySet<Offset>> => {
  const [first, last] = [updates.at(0)?.offset, updates.at(-1)?.offset];
  if (first === undefined || last === undefined) return of(new Set<Offset>());
  const after = { offset: first - 1, participantId, recordTimes: {} };
  return from(others.filter((other) => other.until >= first && other.after < last)).pipe(
    concatMap((other) =>
      batches(feedOf(other.updateFormat, after, Math.min(last, other.until), 'compare')).pipe(
        concatMap(({ items }) => items),
        // what it did not have because it began later
        concatMap(({ _tag, offset }) => (_tag === 'OffsetCheckpoint' || offset <= other.after ? [] : [offset])),
      ),
    ),
    reduce((known, offset) => known.add(offset), new Set<Offset>()),
  );
};
