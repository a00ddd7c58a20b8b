import { asyncScheduler, interval, map, type Observable } from 'rxjs';
import { LedgerResetError, PrunedError } from '../../../../src/errors/feed.js';
import { type Recorded, seenOf } from './History.js';
import { giveUpAfterMs, type MakeReader } from './play.js';
import { runnable } from './Reader.js';
import type { World } from './World.js';

/** What a reader may do wrong; the law must notice each. */
export type Mistake =
  /** It goes on after its offset, whatever the ledger is. */
  | 'offset'
  /** It takes the ledger for another one where its last update is at another offset. */
  | 'strict'
  /** It does not look for its last update. */
  | 'trusting'
  /** It goes on after the record time of its last update, in all synchronizers. */
  | 'one time'
  /** It forgets its position when it is started again. */
  | 'forgetful'
  /** It leaves out what appeared behind its end. */
  | 'end';

interface Position {
  readonly last: { readonly record: Recorded; readonly offset: number };
  readonly participantId: string;
  readonly times: ReadonlyMap<string, number>;
  readonly end: number;
}

/**
 * A reader that sees the ledgers without requests, and does what is guaranteed. The law must have nothing against it, and
 * must see each of its mistakes.
 */
export const modelReader =
  (mistake?: Mistake): MakeReader =>
  ({ world, reading, schedule }) => {
    let position: Position | undefined;
    let missingSince: number | undefined;
    const poll = (): void => {
      const { node } = world;
      if (world.failure !== undefined) return;
      if (position !== undefined && schedule.onOtherNode === 'fail' && position.participantId !== node.participantId)
        throw new LedgerResetError(position.last.offset);
      const missing = position === undefined ? [] : missingOf(world, position, mistake);
      if (missing.length > 0) {
        missingSince ??= asyncScheduler.now();
        const isPast = missing.some(([id, time]) => (node.times().get(id) ?? -1) >= time);
        const hasWaited = asyncScheduler.now() - missingSince >= giveUpAfterMs;
        if (isPast || hasWaited) throw new LedgerResetError(position?.last.offset ?? 0);
        return;
      }
      missingSince = undefined;
      for (const listed of node.listing) {
        const { record, offset } = listed;
        const isNew = position === undefined || isAfter(position, record, offset, mistake);
        if (!isNew || seenOf(record, world.sees).length === 0) continue;
        if (offset <= node.pruned && world.visibleFrom(record) < 0) throw new PrunedError('', node.pruned);
        if (offset <= node.pruned) continue;
        const page = { at: asyncScheduler.now(), begin: position?.last.offset ?? 0, order: node.listing };
        world.note(record, page);
        reading.emitted.push({ updateId: record.updateId, offset, at: asyncScheduler.now() });
        const times = new Map(position?.times).set(record.synchronizerId, record.time);
        position = { last: listed, participantId: node.participantId, times, end: node.end };
      }
      if (position !== undefined) position = { ...position, end: node.end };
    };
    return runnable(reading, (): Observable<unknown> => {
      if (mistake === 'forgetful') position = undefined;
      return interval(500).pipe(map(poll));
    });
  };

/** The last update of each synchronizer that the ledger does not have. */
function missingOf(
  { node }: World,
  { last, times }: Position,
  mistake: Mistake | undefined,
): readonly (readonly [synchronizerId: string, time: number])[] {
  if (mistake === 'offset' || mistake === 'trusting' || mistake === 'one time') return [];
  const isStrict =
    mistake === 'strict' &&
    !node.listing.some(({ record, offset }) => record === last.record && offset === last.offset);
  return [...times].filter(
    ([id, time]) =>
      isStrict || !node.listing.some(({ record }) => record.synchronizerId === id && record.time === time),
  );
}

function isAfter(position: Position, record: Recorded, offset: number, mistake: Mistake | undefined): boolean {
  if (mistake === 'offset') return offset > position.last.offset;
  if (mistake === 'one time') return record.time > position.last.record.time;
  if (mistake === 'end' && offset <= position.end) return false;
  return record.time > (position.times.get(record.synchronizerId) ?? -1);
}
