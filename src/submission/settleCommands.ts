import {
  catchError,
  concatMap,
  EMPTY,
  filter,
  first,
  from,
  map,
  mergeAll,
  mergeMap,
  type Observable,
  of,
  take,
  takeWhile,
  toArray,
} from 'rxjs';
import type { Command } from '../codecs/Command.js';
import type { CommandsRequest, DisclosedContract } from '../codecs/SubmissionRequest.js';
import type { ArchivedEvent, CreatedEvent } from '../codecs/Event.js';
import { acsDelta } from '../codecs/UpdateFormat.js';
import { optional, text } from '../codecs/internal/field.js';
import { envelope, message } from '../codecs/internal/message.js';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import { Offset } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { isLedgerError, isTransient } from '../errors/LedgerError.js';
import { completions } from '../feed/completions.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import { isUnavailable } from '../history/participant.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import type { Service } from '../feed/Service.js';
import { decodeWith, exchange } from '../http/exchange.js';
import { retryTransient } from '../http/retry.js';
import type { CommandSubmission } from './CommandSubmission.js';
import { readUpdates, silent } from './readCommitted.js';

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
    // an outage must not end it, because it takes minutes
    retryTransient({ retry: { ...submission.retry, giveUpAfterMs: withinMs }, report: silent }),
  );

const findUpTo = (submission: CommandSubmission, endInclusive: Offset): Observable<Offset> =>
  // a contract that was archived before the first attempt
  endInclusive <= submission.start.since
    ? EMPTY
    : readUpdates(submission, { beginExclusive: submission.start.since, endInclusive }).pipe(findOwn(submission));

const findUntilDecided = (submission: CommandSubmission, withinMs: number): Observable<Offset> =>
  ledgerEnd(submission.service.link).pipe(
    mergeMap((end) =>
      readUpdates(submission, { beginExclusive: submission.start.since }, withinMs).pipe(
        takeWhile(isOpenUntil(end, submission.request)),
      ),
    ),
    findOwn(submission),
  );

const findOwn =
  (submission: CommandSubmission) =>
  (source: Observable<Update | UndecodedUpdate>): Observable<Offset> =>
    source.pipe(
      filter((update) => isUndecoded(update) || isOfCommand(update, submission)),
      concatMap((update) => isOwnCommit(submission, update).pipe(map((isOwn) => (isOwn ? [update.offset] : [])))),
      mergeAll(),
      take(1),
    );

const isOfCommand = (update: Update | UndecodedUpdate, { commandId }: CommandSubmission): boolean =>
  update._tag === 'Transaction' && update.commandId === commandId;

/** Whether an update does not show its command id. Its completion does. */
const isUndecoded = ({ _tag }: Update | UndecodedUpdate): boolean => _tag === 'UndecodedUpdate';

/**
 * Whether an update is the transaction of the change. Another user, or the same one for more or other parties, may use the
 * same command id. An update does not show them, and a completion shows only the parties that the request names. What
 * shows the change is the submission id of its completion, unless an earlier process may have sent the change.
 */
function isOwnCommit(
  { service, request, commandId, retry, start, submissionIds }: CommandSubmission,
  update: Update | UndecodedUpdate,
): Observable<boolean> {
  // a random command id is unique
  if (request.commandId == null && !isUndecoded(update)) return of(true);
  const { offset } = update;
  const { actAs } = request;
  const selected = { parties: actAs, userId: request.userId, beginExclusive: offset - 1 };
  return completions(service, selected, { transport: 'http', retry }, undefined, silent).pipe(
    first((element) => element.offset >= offset),
    map(
      (element) =>
        element._tag === 'Completion' &&
        element.offset === offset &&
        element.commandId === commandId &&
        actAs.every((party) => element.actAs.includes(party)) &&
        (start.isGiven === true || element.submissionId === undefined || submissionIds.has(element.submissionId)),
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
function isOpenUntil(end: Offset, request: CommandsRequest): (update: Update | UndecodedUpdate) => boolean {
  let first: OffsetCheckpoint | undefined;
  return (update) => {
    if (update._tag !== 'OffsetCheckpoint' || update.offset < end || update.synchronizerTimes.length === 0) return true;
    first ??= update;
    const { synchronizerTimes } = first;
    return !synchronizerTimes.every(({ synchronizerId, recordTime }) =>
      update.synchronizerTimes.some(
        (now) =>
          now.synchronizerId === synchronizerId &&
          Date.parse(now.recordTime) >= heldUntil(Date.parse(recordTime), request) + decidedAfterMs,
      ),
    );
  };
}

/** Until when the participant may hold an attempt that it received by a record time: until its earliest ledger time. */
const heldUntil = (receivedAt: number, { minLedgerTimeAbs, minLedgerTimeRel }: CommandsRequest): number =>
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

/** Looks up the contracts on which commands exercise a choice. */
export const readUsedContracts = (service: Service, request: CommandsRequest): Observable<readonly UsedContract[]> =>
  from(new Set(request.commands.flatMap(contractIdOf))).pipe(
    mergeMap((contractId) => readContract(service, contractId, request), maxRequests),
    toArray(),
  );

/** How many contracts to look up at the same time. */
const maxRequests = 4;

const contractIdOf = (command: Command): readonly string[] =>
  'ExerciseCommand' in command ? [command.ExerciseCommand.contractId] : [];

const path = '/v2/events/events-by-contract-id';

function readContract(
  { link }: Service,
  contractId: string,
  { actAs, readAs }: CommandsRequest,
): Observable<UsedContract> {
  const parties = [...new Set([...actAs, ...(readAs ?? [])])];
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
