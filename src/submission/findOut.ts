import {
  catchError,
  concat,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  endWith,
  filter,
  first,
  from,
  ignoreElements,
  map,
  merge,
  mergeAll,
  mergeMap,
  NEVER,
  type Observable,
  of,
  repeat,
  take,
  takeWhile,
  tap,
  timer,
  toArray,
} from 'rxjs';
import { optional, text } from '../codecs/internal/field.js';
import { envelope, message } from '../codecs/internal/message.js';
import type { CompletionsRequest } from '../codecs/Completion.js';
import type { ArchivedEvent, CreatedEvent } from '../codecs/Event.js';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import { Offset } from '../codecs/scalars.js';
import type { DisclosedContract } from '../codecs/SubmissionRequest.js';
import type { Update } from '../codecs/Update.js';
import { acsDelta } from '../codecs/UpdateFormat.js';
import type { ApiError } from '../errors/ApiError.js';
import { isLedgerError, isTransient } from '../errors/LedgerError.js';
import { completions } from '../feed/completions.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import { isUnavailable } from '../history/participant.js';
import { decodeWith, exchange } from '../http/exchange.js';
import { jitter, retryTransient } from '../http/retry.js';
import { proveStart } from './LedgerStart.js';
import { readUpdates, silent } from './readCommitted.js';
import type { HeldTimes, Run } from './Run.js';

/**
 * Watches the completions for one that shows that an attempt of this process was committed. Emits its offset. Ends without a
 * value if the completions cannot be read. It does not end by itself otherwise, and proves nothing by that.
 */
export const watch = (run: Run, withinMs: number): Observable<Offset> =>
  completionsAfter(run, run.start.since, withinMs).pipe(
    filter(
      (element) =>
        element._tag === 'Completion' &&
        element.outcome === 'committed' &&
        run.change.submissionIds.has(element.submissionId ?? ''),
    ),
    map(({ offset }) => offset),
    take(1),
    catchError(() => EMPTY),
  );

const completionsAfter = (
  { service, submission, retry }: Run,
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
  return completions(service, selected, options, undefined, silent);
};

/**
 * Determines whether an attempt of a change was committed, after an answer that says nothing about earlier attempts.
 * Emits the offset of the commit, or completes without a value if nothing was and nothing will be committed. Does not end
 * before one of the two is certain.
 *
 * If a contract without which no attempt can be committed is archived, the change is among the updates up to there, or was not
 * committed. Otherwise, an attempt that is still in flight may be committed until the synchronizer no longer accepts it.
 */
export const settle = (run: Run, refusal: ApiError, withinMs: number): Observable<Offset> => {
  const { service, start, strategy, retry } = run;
  const read$ = concat(proveStart(service, start), readContracts(run, strategy.inputs(refusal))).pipe(
    mergeMap((contracts) => {
      const archivals = contracts.flatMap(({ archivedAt }) => (archivedAt === undefined ? [] : [archivedAt]));
      return archivals.length === 0 ? findUntilDecided(run, withinMs) : findUpTo(run, Math.min(...archivals));
    }),
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

const findUpTo = (run: Run, endInclusive: Offset): Observable<Offset> => {
  const { since: beginExclusive } = run.start;
  // a contract that was archived before the first attempt
  if (endInclusive <= beginExclusive) return EMPTY;
  return readUpdates(run, { beginExclusive, endInclusive }).pipe(findOwn(run));
};

/** The updates do not wait for the ledger end, which a gateway may block: without it, only a commit decides. */
const findUntilDecided = (run: Run, withinMs: number): Observable<Offset> =>
  defer(() => {
    const { service, strategy, start, retry } = run;
    let end: Offset = Infinity;
    const isOpen = isOpenUntil(() => end, strategy.held);
    const end$ = ledgerEnd(service.link).pipe(
      retryTransient({ retry: { ...retry, giveUpAfterMs: withinMs }, report: silent }),
      tap((offset) => {
        end = offset;
      }),
      ignoreElements(),
      catchError(() => EMPTY),
    );
    const updates$ = readUpdates(run, { beginExclusive: start.since }, withinMs).pipe(
      takeWhile(isOpen),
      endWith(undefined),
    );
    return merge(end$, updates$).pipe(
      takeWhile((update) => update !== undefined),
      findOwn(run),
    );
  });

const findOwn =
  (run: Run) =>
  (source: Observable<Update | UndecodedUpdate>): Observable<Offset> =>
    source.pipe(
      filter((update) => update._tag === 'UndecodedUpdate' || run.strategy.isCandidate(run, update)),
      concatMap((update) => isOwnCommit(run, update).pipe(map((isOwn) => (isOwn ? [update.offset] : [])))),
      mergeAll(),
      take(1),
    );

/**
 * Whether an update is the transaction of the change. Another user, or the same one for more or other parties, may use the
 * same command id. An update does not show them, and a completion shows only the parties that the request names. What
 * shows the change is the submission id of its completion, unless an earlier process may have sent the change. An update that
 * does not decode shows no command id. Its completion does.
 */
function isOwnCommit(run: Run, { offset, _tag }: Update | UndecodedUpdate): Observable<boolean> {
  const { change, start, strategy, submission } = run;
  if (strategy.isCertain && _tag !== 'UndecodedUpdate') return of(true);
  return completionsAfter(run, offset - 1).pipe(
    first((element) => element.offset >= offset),
    map(
      (element) =>
        element._tag === 'Completion' &&
        element.offset === offset &&
        (change.commandId === undefined || element.commandId === change.commandId) &&
        submission.actAs.every((party) => element.actAs.includes(party)) &&
        (start.isGiven === true ||
          element.submissionId === undefined ||
          change.submissionIds.has(element.submissionId)),
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
function isOpenUntil(end: () => Offset, held: HeldTimes): (update: Update | UndecodedUpdate) => boolean {
  let first: OffsetCheckpoint | undefined;
  return (update) => {
    if (update._tag !== 'OffsetCheckpoint' || update.offset < end() || update.synchronizerTimes.length === 0)
      return true;
    first ??= update;
    const { synchronizerTimes } = first;
    return !synchronizerTimes.every(({ synchronizerId, recordTime }) =>
      update.synchronizerTimes.some(
        (now) =>
          now.synchronizerId === synchronizerId &&
          Date.parse(now.recordTime) >= heldUntil(Date.parse(recordTime), held) + decidedAfterMs,
      ),
    );
  };
}

/** Until when the participant may hold an attempt that it received by a record time: until its earliest ledger time. */
const heldUntil = (receivedAt: number, { minLedgerTimeAbs, minLedgerTimeRel }: HeldTimes): number =>
  Math.max(
    receivedAt + (minLedgerTimeRel?.seconds ?? 0) * 1_000,
    minLedgerTimeAbs == null ? 0 : Date.parse(minLedgerTimeAbs),
  );

/** What the participant knows of a contract that commands use. */
interface UsedContract {
  /** What interpretation needs, even if the contract is archived by now. Absent if the participant has pruned it. */
  readonly disclosed?: DisclosedContract;
  /** The offset at which the contract was archived, if it was. */
  readonly archivedAt?: Offset;
}

/** Looks up contracts. */
export const readContracts = (run: Run, contractIds: readonly string[]): Observable<readonly UsedContract[]> =>
  from(contractIds).pipe(
    mergeMap((contractId) => readContract(run, contractId), maxRequests),
    toArray(),
  );

/** How many contracts to look up at the same time. */
const maxRequests = 4;

const path = '/v2/events/events-by-contract-id';

function readContract({ service, submission, strategy }: Run, contractId: string): Observable<UsedContract> {
  const { link } = service;
  const parties = [...new Set([...submission.actAs, ...strategy.readAs])];
  const { includeTransactions } = acsDelta({ parties, includeCreatedEventBlob: true });
  const body = { contractId, eventFormat: includeTransactions?.eventFormat };
  return exchange(link, { method: 'POST', path, body }, decodeWith(path, ContractEvents)).pipe(
    map(({ created: { templateId, createdEventBlob } = {}, archived }) => ({
      ...(createdEventBlob && { disclosed: { templateId, contractId, createdEventBlob, synchronizerId: '' } }),
      ...(archived && { archivedAt: archived.offset }),
    })),
    catchError((error: unknown) => {
      // the contract is unknown or pruned, or a gateway blocks the path
      if (isUnavailable(error) || (isLedgerError(error) && !isTransient(error))) return [{}];
      throw error;
    }),
  );
}

/** The events of a contract, as far as they are needed here. */
interface ContractEvents {
  readonly created?: CreatedContract;
  readonly archived?: Pick<ArchivedEvent, 'offset'>;
}

type CreatedContract = Pick<CreatedEvent, 'templateId' | 'createdEventBlob'>;

const ContractEvents = message<ContractEvents>('ContractEvents', {
  created: optional(
    envelope(
      'createdEvent',
      message<CreatedContract>('CreatedEvent', { templateId: text, createdEventBlob: optional(text) }),
    ),
  ),
  archived: optional(envelope('archivedEvent', message('ArchivedEvent', { offset: Offset }))),
});
