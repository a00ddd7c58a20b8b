import {
  catchError,
  concat,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  endWith,
  filter,
  finalize,
  first,
  ignoreElements,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  repeat,
  take,
  takeLast,
  takeUntil,
  takeWhile,
  tap,
  throwIfEmpty,
  timer,
} from 'rxjs';
import type { Completion, CompletionsRequest } from '../codecs/Completion.js';
import type { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { Update } from '../codecs/Update.js';
import type { ApiError } from '../errors/ApiError.js';
import { OutcomeUnknownError } from '../errors/LedgerError.js';
import type { Submission } from '../errors/submission.js';
import { completions } from '../feed/completions.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import { monotonicNow } from '../http/clock.js';
import { clampTimer, jitter, retryTransient } from '../http/retry.js';
import { readContracts } from './usedContracts.js';
import { type LedgerStart, proveStart } from './LedgerStart.js';
import { type Owner, ownerOf } from './ownership.js';
import { completionOffset, readCommitted, readUpdates, silent } from './readCommitted.js';
import type { HeldTimes, Rest, Run } from './Run.js';

/**
 * Watches the completions for one that shows that the change was committed. Emits it. Ends without a value if the
 * completions cannot be read. It does not end by itself otherwise, and proves nothing by that.
 */
export const watch = (run: Run, withinMs: number): Observable<Completion> =>
  completionsAfter(run, run.start.offset, withinMs).pipe(
    filter((element) => element._tag === 'Completion'),
    filter((completion) => ownerOf(run, completion) === 'change'),
    take(1),
    catchError(() => EMPTY),
  );

const completionsAfter = (
  { client, submission, retry }: Run,
  beginExclusive: Offset,
  giveUpAfterMs = retry.giveUpAfterMs,
): ReturnType<typeof completions> => {
  const { actAs, userId } = submission;
  const [party = '', ...others] = actAs;
  const selected: CompletionsRequest = {
    parties: [party, ...others],
    beginExclusive,
    ...(userId !== '' && { userId }),
  };
  const options = { transport: 'http', retry: { ...retry, giveUpAfterMs } } as const;
  return completions(client, selected, options, undefined, silent);
};

/** The offset of the change's commit, or that a commit may be the change's or that of other parties. */
type Found = Offset | 'unclear';

/**
 * Determines whether an attempt of a change was committed, after an answer that says nothing about earlier attempts.
 * Emits the offset of the commit, or completes without a value if nothing was and nothing will be committed. Does not end
 * before one of the two is certain, unless a commit stays unclear.
 *
 * If a contract without which no attempt can be committed is archived, the change is among the updates up to there, or was not
 * committed. Otherwise, an attempt that is still in flight may be committed until the synchronizer no longer accepts it.
 */
export const settle = (run: Run, refusal: ApiError, withinMs: number): Observable<Found> => {
  const { start, strategy, retry } = run;
  const read$ = concat(proveStart(run), readContracts(run, strategy.inputs(refusal))).pipe(
    mergeMap(({ archivedAt }) =>
      archivedAt === undefined ? findUntilDecided(run, withinMs) : findUpTo(run, archivedAt),
    ),
    take(1),
    // an outage must not end it, because it takes minutes
    retryTransient({ retry: { ...retry, giveUpAfterMs: withinMs }, report: silent }),
  );
  if (strategy.kind === 'hosted') return read$;
  // another participant at the same address, with other offsets, may have committed signed bytes
  const isSame = start.participantId !== undefined;
  const lookUp$ = strategy.lookUp(run, withinMs).pipe(repeat({ delay: (count) => timer(jitter(count, retry)) }));
  return merge(
    read$.pipe(
      defaultIfEmpty(undefined),
      filter((offset) => isSame || offset !== undefined),
      (decided$) => concat(decided$, NEVER),
      catchError(() => NEVER),
    ),
    lookUp$,
  ).pipe(
    take(1),
    filter((offset) => offset !== undefined),
  );
};

/**
 * Reads the transaction of a change that the ledger refuses as a duplicate. If the refusal does not show the offset, because a
 * participant or a gateway withholds its context, searches for it.
 */
export const readDuplicate = (
  run: Run,
  named: Submission,
  duplicate: ApiError,
  withinMs: number,
): Observable<SubmittedTransaction> =>
  defer(() => {
    const endsAt = monotonicNow() + withinMs;
    const offset = completionOffset(duplicate);
    return (offset === undefined ? findDuplicate(run, withinMs) : of(offset)).pipe(
      throwIfEmpty(() => new OutcomeUnknownError(named, duplicate)),
      concatMap((at) => readCommitted(run, named, at, endsAt - monotonicNow(), duplicate)),
    );
  });

/** Searches what the ledger shows so far, and twice more: its end may lag the refusal. Completes if the commit is not there. */
function findDuplicate(run: Run, withinMs: number): Observable<Offset> {
  const { client, strategy, retry } = run;
  if (!strategy.canSettle) return EMPTY;
  const search$ = concat(proveStart(run), ledgerEnd(client)).pipe(
    concatMap((end) => findUpTo(run, end)),
    retryTransient({ retry: { ...retry, giveUpAfterMs: withinMs }, report: silent }),
    repeat({ count: 3, delay: 1_000 }),
  );
  return concat(strategy.lookUp(run, withinMs), search$).pipe(
    filter((found) => found !== 'unclear'),
    take(1),
    catchError(() => EMPTY),
    takeUntil(timer(clampTimer(withinMs))),
  );
}

/** Searches the updates up to an offset for the commit of the change. */
export const findUpTo = (run: Run, endInclusive: Offset): Observable<Found> =>
  findBetween(run, searchStart(run.start), endInclusive);

/** Searches the updates of a range for the commit of the change. */
export const findBetween = (run: Run, beginExclusive: Offset, endInclusive: Offset): Observable<Found> =>
  endInclusive > beginExclusive ? readUpdates(run, { beginExclusive, endInclusive }).pipe(findOwn(run)) : EMPTY;

/** The offset after which all commits of a change are, if its ledger is still the same. */
function searchStart(start: LedgerStart): Offset {
  const { offset, lastUpdate } = start.latest ?? start;
  return Math.min(start.offset, lastUpdate?.offset ?? offset);
}

/** The updates do not wait for the ledger end, which a gateway may block: without it, only a commit decides. */
const findUntilDecided = (run: Run, withinMs: number): Observable<Found> =>
  defer(() => {
    const rest = run.rest();
    const { client, strategy, retry } = run;
    let end: Offset = Infinity;
    const isOpen = isOpenUntil(() => end, strategy.held, rest);
    const end$ = ledgerEnd(client).pipe(
      retryTransient({ retry: { ...retry, giveUpAfterMs: withinMs }, report: silent }),
      tap((offset) => {
        end = offset;
      }),
      ignoreElements(),
      catchError(() => EMPTY),
    );
    const updates$ = readUpdates(run, { beginExclusive: searchStart(run.start) }, withinMs).pipe(
      takeWhile(isOpen),
      endWith(undefined),
    );
    return merge(end$, updates$).pipe(
      takeWhile((update) => update !== undefined),
      findOwn(run),
      finalize(rest.end),
    );
  });

/** Searches for the commit of the change. It may follow one that is unclear. */
const findOwn =
  (run: Run) =>
  (source: Observable<Update | UndecodedUpdate>): Observable<Found> =>
    source.pipe(
      filter((update) => update._tag === 'UndecodedUpdate' || run.strategy.isCandidate(run, update)),
      concatMap((update) => ownerOfUpdate(run, update).pipe(map((owner) => ({ owner, offset: update.offset })))),
      filter(({ owner }) => owner !== 'other'),
      takeWhile(({ owner }) => owner === 'unclear', true),
      takeLast(1),
      map(({ owner, offset }) => (owner === 'unclear' ? owner : offset)),
    );

/** To what an update belongs. It does not show the user and all parties, nor anything if it does not decode. Its completion does. */
function ownerOfUpdate(run: Run, { offset, _tag }: Update | UndecodedUpdate): Observable<Owner> {
  if (run.strategy.isCertain && _tag !== 'UndecodedUpdate') return of('change');
  return completionsAfter(run, offset - 1).pipe(
    first((element) => element.offset >= offset),
    map((element) => (element._tag === 'Completion' && element.offset === offset ? ownerOf(run, element) : 'other')),
  );
}

/**
 * How long the participant may take to decide on an attempt, in milliseconds of the synchronizer's time: 60 s until it is
 * sequenced, 30 s until it is confirmed, 30 s until the mediator reacts, and 15 s for a checkpoint that lags.
 */
const decidedAfterMs = 135_000;

/**
 * Returns whether an attempt before an offset, or one that another subscription sends later, may still be committed after an
 * update. Only checkpoints show the time of all synchronizers: that of the last event, which may be long ago. So the time since the
 * attempt counts from the first change that a checkpoint shows.
 */
function isOpenUntil(
  end: () => Offset,
  held: HeldTimes,
  { isSentElsewhere }: Rest,
): (update: Update | UndecodedUpdate) => boolean {
  /** The first time of each synchronizer after the attempts, and the next one. */
  let times = new Map<string, { readonly first: number; next?: number }>();
  return (update) => {
    if (update._tag !== 'OffsetCheckpoint' || update.offset < end() || update.synchronizerTimes.length === 0)
      return true;
    if (isSentElsewhere()) times = new Map();
    const now = new Map(
      update.synchronizerTimes.map(({ synchronizerId, recordTime }) => [synchronizerId, Date.parse(recordTime)]),
    );
    for (const [synchronizerId, time] of now) {
      const known = times.get(synchronizerId);
      if (known === undefined) times.set(synchronizerId, { first: time });
      else if (time > known.first) known.next ??= time;
    }
    return ![...times].every(
      ([synchronizerId, { next = Infinity }]) =>
        (now.get(synchronizerId) ?? -Infinity) >= heldUntil(next, held) + decidedAfterMs,
    );
  };
}

/** Until when the participant may hold an attempt that it received by a record time: until its earliest ledger time. */
const heldUntil = (receivedAt: number, { minLedgerTimeAbs, minLedgerTimeRel }: HeldTimes): number =>
  Math.max(
    receivedAt + (minLedgerTimeRel?.seconds ?? 0) * 1_000,
    minLedgerTimeAbs == null ? 0 : Date.parse(minLedgerTimeAbs),
  );
