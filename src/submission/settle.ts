import { concatMap, filter, first, map, mergeAll, mergeMap, type Observable, of, take, takeWhile } from 'rxjs';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import { completions } from '../feed/completions.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import type { Update } from '../codecs/Update.js';
import type { CommandSubmission } from './CommandSubmission.js';
import { readUpdates, silent } from './readCommitted.js';
import { readUsedContracts } from './usedContracts.js';

/**
 * Determines whether an attempt of a change was committed, after a refusal that says nothing about earlier attempts.
 * Emits the offset of the commit, or completes without a value if nothing was and nothing will be committed. Does not end
 * before one of the two is certain.
 *
 * If a contract of the commands is archived, no attempt can be committed after that: the change is among the updates up to
 * there, or was not committed. Otherwise, an attempt that is still in flight may be committed until the synchronizer no
 * longer accepts it.
 */
export const settle = (submission: CommandSubmission, withinMs: number): Observable<Offset> =>
  readUsedContracts(submission.service, submission.request).pipe(
    mergeMap((contracts) => {
      const archivals = contracts.flatMap(({ archivedAt }) => (archivedAt === undefined ? [] : [archivedAt]));
      return archivals.length === 0
        ? findUntilDecided(submission, withinMs)
        : findUpTo(submission, Math.min(...archivals));
    }),
    take(1),
  );

const findUpTo = (submission: CommandSubmission, endInclusive: Offset): Observable<Offset> =>
  readUpdates(submission, { beginExclusive: submission.start.since, endInclusive }).pipe(findOwn(submission));

const findUntilDecided = (submission: CommandSubmission, withinMs: number): Observable<Offset> =>
  ledgerEnd(submission.service.link).pipe(
    mergeMap((end) =>
      readUpdates(submission, { beginExclusive: submission.start.since }, withinMs).pipe(takeWhile(isOpenUntil(end))),
    ),
    findOwn(submission),
  );

const findOwn =
  (submission: CommandSubmission) =>
  (source: Observable<Update | UndecodedUpdate>): Observable<Offset> =>
    source.pipe(
      filter((update) => update._tag === 'Transaction' && update.commandId === submission.commandId),
      concatMap(({ offset }) => isOwnCommit(submission, offset).pipe(map((isOwn) => (isOwn ? [offset] : [])))),
      mergeAll(),
      take(1),
    );

/**
 * Whether the transaction at an offset belongs to the change. Another user may use the same command id, and an update does
 * not show its user, but its completion does. Without a user in the request, the participant decides whose completions it
 * shows.
 */
function isOwnCommit({ service, request, submission, retry }: CommandSubmission, offset: Offset): Observable<boolean> {
  // a random command id is unique
  if (request.commandId == null) return of(true);
  const selected = { parties: request.actAs, userId: request.userId, beginExclusive: offset - 1 };
  return completions(service, selected, { transport: 'http', retry }, undefined, silent).pipe(
    first((element) => element.offset >= offset),
    map(
      (element) =>
        element._tag === 'Completion' && element.offset === offset && element.commandId === submission.commandId,
    ),
  );
}

/**
 * How long the participant may take to decide on an attempt, in milliseconds of the synchronizer's time: 60 s until it is
 * sequenced, 30 s until it is confirmed, 30 s until the mediator reacts, and 10 s for a checkpoint that lags.
 */
const decidedAfterMs = 130_000;

/**
 * Returns whether an attempt before an offset may still be committed after an update. Only checkpoints show the time of all
 * synchronizers.
 */
function isOpenUntil(end: Offset): (update: Update | UndecodedUpdate) => boolean {
  let first: OffsetCheckpoint | undefined;
  return (update) => {
    if (update._tag !== 'OffsetCheckpoint' || update.offset < end || update.synchronizerTimes.length === 0) return true;
    first ??= update;
    const { synchronizerTimes } = first;
    return !synchronizerTimes.every(({ synchronizerId, recordTime }) =>
      update.synchronizerTimes.some(
        (now) =>
          now.synchronizerId === synchronizerId &&
          Date.parse(now.recordTime) - Date.parse(recordTime) >= decidedAfterMs,
      ),
    );
  };
}
