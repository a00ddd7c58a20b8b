import {
  delay,
  map,
  NEVER,
  Observable,
  of,
  queueScheduler,
  ReplaySubject,
  switchMap,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { Command, DeduplicationPeriod, ExecuteRequest } from '../../src/index.js';
import type { Reply, ServiceRequest } from './scripted.js';
import type { VirtualLedger } from './virtualLedger.js';
import { brokenConnection, errorBody, errorReply, ok, refusedConnection, synchronizerId, timedOut } from './wire.js';

/** How a response is lost. */
export type Loss = 'reset' | 'silence' | '503' | '502' | 'garbled';

/** What happens to one attempt, at one of the steps of a participant. */
export type CommandFault =
  | { readonly kind: 'refusedConnection' }
  /** The request is lost before the participant receives it. */
  | { readonly kind: 'lostRequest'; readonly how: Loss }
  /** The participant refuses the attempt before it registers it. */
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  /** The participant fails with an internal error before it registers the attempt. */
  | { readonly kind: 'internalError'; readonly throwable: string }
  /** The attempt is registered and then rejected. */
  | { readonly kind: 'rejected'; readonly code: RejectionCode; readonly afterMs: number }
  /** The attempt is processed for a while. The client gives up, or gets the response. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The participant holds the attempt for a while before it registers it. */
  | { readonly kind: 'held'; readonly ms: number }
  /** The attempt is committed and its response is lost. */
  | { readonly kind: 'lostResponse'; readonly how: Loss; readonly afterMs: number }
  /** The attempt is committed, and reading the transaction back fails. */
  | { readonly kind: 'failedAfterCommit'; readonly code: 'UPDATE_NOT_FOUND' | 'INDEX_DB_SQL_TRANSIENT_ERROR' | 'NA' };

export const refusalCodes = {
  PARTICIPANT_BACKPRESSURE: [409, 2],
  FAILED_TO_DETERMINE_LEDGER_TIME: [409, 2],
  DAML_FAILURE: [400, 9],
  DAML_AUTHORIZATION_ERROR: [400, 8],
  UNKNOWN_INFORMEES: [404, 11],
  NO_SYNCHRONIZER_FOR_SUBMISSION: [400, 9],
  UNKNOWN_CONTRACT_SYNCHRONIZERS: [400, 9],
  PACKAGE_SELECTION_FAILED: [400, 9],
} as const satisfies Readonly<Record<string, readonly [number, number]>>;

export const rejectionCodes = {
  LOCAL_VERDICT_LOCKED_CONTRACTS: [409, 2],
  LOCAL_VERDICT_TIMEOUT: [409, 2],
  SEQUENCER_REQUEST_FAILED: [409, 2],
  NOT_SEQUENCED_TIMEOUT: [409, 2],
  SEQUENCER_BACKPRESSURE: [409, 2],
  SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT: [400, 9],
  MEDIATOR_INVALID_MESSAGE: [400, 9],
} as const satisfies Readonly<Record<string, readonly [number, number]>>;

type RefusalCode = keyof typeof refusalCodes;
type RejectionCode = keyof typeof rejectionCodes;

/** A commit of commands. */
export interface CommandCommit {
  readonly commandId: string;
  readonly change: string;
  readonly submissionId: string;
  readonly offset: number;
  readonly atMs: number;
  /** The number of the ledger: 0, and more after each replacement. */
  readonly era: number;
}

/** Commands as their client sends them. */
export interface SubmittedCommands {
  readonly commandId: string;
  readonly userId: string;
  readonly submissionId: string;
  readonly actAs: readonly string[];
  readonly commands: readonly Command[];
  readonly deduplicationPeriod: Period;
  readonly disclosedContracts: readonly { readonly contractId: string }[];
  /** The participant works on an attempt no earlier than this after it has received it. */
  readonly minLedgerTimeRel?: { readonly seconds: number };
  /** Whether a party of its own has signed the transaction: it is not interpreted again. */
  readonly isSigned?: boolean;
}

type Period = DeduplicationPeriod;

/** What a completion shows of its commands. */
export interface Completed extends Pick<SubmittedCommands, 'commandId' | 'userId' | 'submissionId' | 'actAs'> {
  readonly offset: number;
  readonly isReassignment?: boolean;
}

interface CompletionElement {
  readonly completionResponse: { readonly Completion: { readonly value: Completed } };
}

interface TransactionElement {
  readonly update: { readonly Transaction: { readonly value: object } };
}

/** The times of a service, and the paths of its completions. */
export interface ServiceOptions {
  readonly latencyMs: number;
  /** The time from a request to its commit, in milliseconds. */
  readonly commitMs: number;
  /** Whether open-ended streams have checkpoints: since 3.5. */
  readonly hasCheckpoints: boolean;
  readonly completions: 'completions' | 'command-completions';
  /** Whether attempts wait until their earliest ledger time; otherwise, only those of the fault `held` wait. */
  readonly holds?: boolean;
}

export const submitPath = '/v2/commands/submit-and-wait-for-transaction';
export const executePath = '/v2/interactive-submission/executeAndWaitForTransaction';

/** The command id in all signed transactions. */
export const signedCommandId = 'order-1';

/** The longest time that the HTTP layer waits for a response, in milliseconds. */
const httpTimeoutMs = 20_000;

/** A participant in virtual time that works on commands in the order of a real one. What they do is for subclasses to say. */
export abstract class CommandService {
  readonly commits: CommandCommit[] = [];
  protected era = 0;
  private downUntil = 0;
  private prunedAt = -Infinity;
  private readonly inFlight = new Map<string, string>();
  private completions: object[] = [];

  protected constructor(private readonly behavior: ServiceOptions) {}

  abstract readonly ledger: VirtualLedger;

  protected abstract recordTime(): string;

  protected abstract updateIdAt(offset: number): string;

  /** Records an attempt, and returns what happens to it. */
  protected abstract receive(body: ServiceRequest['body'], commands: SubmittedCommands): CommandFault | undefined;

  /** Interprets and routes commands. Returns the refusal, if any. */
  protected abstract interpret(commands: SubmittedCommands): Reply | undefined;

  /** Validates commands when they are about to be committed. Returns the rejection, if any. */
  protected abstract validate(commands: SubmittedCommands): Reply | undefined;

  /** Commits the transaction of commands. Returns its offset. */
  protected abstract commit(commands: SubmittedCommands): number;

  protected abstract contractEvents(contractId: string): Reply;

  /** Answers any other request. */
  protected abstract answer(request: ServiceRequest): Observable<Reply>;

  /** Prunes everything up to an offset, or so far. `keptMs` is for how long the participant remembers what it has committed. */
  prune(offset = this.ledger.end, keptMs = 0): void {
    if (offset <= this.ledger.pruned) return;
    this.prunedAt = queueScheduler.now() - keptMs;
    this.ledger.pruned = offset;
  }

  /** For a while, no connection can be established. */
  goDown(ms: number): void {
    this.downUntil = Math.max(this.downUntil, queueScheduler.now() + ms);
    this.ledger.disconnect();
  }

  /** The replies for `scriptedService`. */
  readonly reply = (request: ServiceRequest): Observable<Reply> => {
    if (this.isDown()) return throwError(() => refusedConnection);
    const later = (reply: () => Reply): Observable<Reply> => timer(this.behavior.latencyMs).pipe(map(reply));
    switch (request.path) {
      case submitPath:
      case executePath:
        return this.submit(request);
      case '/v2/updates/update-by-offset':
        return later(() => this.updateAt(Number(request.body['offset'])));
      case '/v2/events/events-by-contract-id':
        return later(() => this.contractEvents(String(request.body['contractId'])));
      case `/v2/commands/${this.behavior.completions}`:
        return later(() => this.completionList(request));
      default:
        return this.answer(request);
    }
  };

  protected isDown(): boolean {
    return queueScheduler.now() < this.downUntil;
  }

  /** Forgets all commands: another ledger takes the place of this one. */
  protected forget(): void {
    this.era += 1;
    this.inFlight.clear();
    this.completions = [];
  }

  protected complete({ isReassignment = false, ...completion }: Completed): void {
    const value = {
      ...completion,
      updateId: this.updateIdAt(completion.offset),
      status: { code: 0, message: '', details: [] },
      deduplicationPeriod: isReassignment ? { Empty: {} } : { DeduplicationOffset: { value: 0 } },
      synchronizerTime: { synchronizerId, recordTime: this.recordTime() },
    };
    this.completions.push({ completionResponse: { Completion: { value } } });
  }

  /** The events of a contract that was archived at an offset, or not at all. */
  protected eventsOf(
    contractId: string,
    archivedAt: number | undefined,
    { isBlobPruned = false, createdAt }: { readonly isBlobPruned?: boolean; readonly createdAt?: number } = {},
  ): Reply {
    if (archivedAt !== undefined && archivedAt <= this.ledger.pruned) return noEvents;
    const createdEvent = { contractId, templateId: 'p:M:T', createdEventBlob: 'AAAA', offset: createdAt };
    return ok({
      created: isBlobPruned ? null : { createdEvent, synchronizerId },
      archived: archivedAt === undefined ? null : { archivedEvent: { contractId, offset: archivedAt }, synchronizerId },
    });
  }

  private submit({ path, body }: ServiceRequest): Observable<Reply> {
    const commands = path === executePath ? signedCommands(body) : (body['commands'] as SubmittedCommands);
    const fault = this.receive(body, commands);
    const { latencyMs } = this.behavior;
    switch (fault?.kind) {
      case 'refusedConnection':
        return throwError(() => refusedConnection);
      case 'lostRequest':
        return lose(fault.how, latencyMs);
      case 'refused': {
        const [status, category] = refusalCodes[fault.code];
        return of(errorReply(status, errorBody(fault.code, category))).pipe(delay(latencyMs));
      }
      case 'internalError': {
        const context = { throwableO: `Some(${fault.throwable})` };
        return of(errorReply(500, errorBody('LEDGER_API_INTERNAL_ERROR', 4, context))).pipe(delay(latencyMs));
      }
      case 'lostResponse':
        void this.process(commands, fault);
        return lose(fault.how, fault.afterMs);
      default: {
        const reply$ = this.process(commands, fault);
        return new Observable((subscriber) => {
          const subscription = reply$.subscribe(subscriber);
          // the JSON layer gives up, and the participant goes on
          subscription.add(of(timedOut).pipe(delay(httpTimeoutMs)).subscribe(subscriber));
          return subscription;
        });
      }
    }
  }

  /** Works on an attempt to its end, whether or not a client waits. */
  private process(commands: SubmittedCommands, fault: CommandFault | undefined): Observable<Reply> {
    const reply$ = new ReplaySubject<Reply>(1);
    const { era } = this;
    const stillHere = (): void => {
      if (era !== this.era) throw refusedConnection;
    };
    const heldMs = this.behavior.holds === true ? (commands.minLedgerTimeRel?.seconds ?? 0) * 1_000 : 0;
    timer(fault?.kind === 'held' ? fault.ms : this.behavior.latencyMs)
      .pipe(
        tap(stillHere),
        switchMap(() => {
          const refusal = this.interpret(commands);
          if (refusal !== undefined) return of(refusal);
          const due$ = heldMs === 0 ? of(0) : timer(heldMs).pipe(tap(stillHere));
          return due$.pipe(switchMap(() => this.register(commands, fault)));
        }),
      )
      .subscribe(reply$);
    return reply$;
  }

  private register(commands: SubmittedCommands, fault: CommandFault | undefined): Observable<Reply> {
    const change = JSON.stringify([commands.userId, [...commands.actAs].sort(), commands.commandId]);
    const pending = this.inFlight.get(change);
    if (pending !== undefined) {
      const context = { existingSubmissionId: `Some(${pending})` };
      return of(errorReply(409, errorBody('SUBMISSION_ALREADY_IN_FLIGHT', 2, context)));
    }
    const { pruned } = this.ledger;
    // what is pruned is forgotten
    const earlier = this.commits.findLast(
      (commit) => commit.change === change && commit.offset > pruned && commit.era === this.era,
    );
    const period = commands.deduplicationPeriod;
    if (earlier !== undefined && isWithin(period, earlier)) {
      const context = { completion_offset: String(earlier.offset), accepted: 'true' };
      return of(errorReply(409, errorBody('DUPLICATE_COMMAND', 10, context)));
    }
    if (earlier === undefined && this.isPruned(period))
      return of(errorReply(400, errorBody('INVALID_DEDUPLICATION_PERIOD', 9, { earliest_offset: String(pruned) })));
    this.inFlight.set(change, commands.submissionId);
    const takesMs = fault?.kind === 'slow' ? fault.ms : this.behavior.commitMs;
    const { era } = this;
    return timer(fault?.kind === 'rejected' ? fault.afterMs : takesMs).pipe(
      map(() => {
        if (era !== this.era) throw refusedConnection;
        this.inFlight.delete(change);
        return this.decide(change, commands, fault);
      }),
    );
  }

  private isPruned(period: Period): boolean {
    return 'DeduplicationOffset' in period
      ? period.DeduplicationOffset.value < this.ledger.pruned
      : queueScheduler.now() - durationMs(period) <= this.prunedAt;
  }

  private decide(change: string, commands: SubmittedCommands, fault: CommandFault | undefined): Reply {
    if (fault?.kind === 'rejected') {
      const [status, category] = rejectionCodes[fault.code];
      return errorReply(status, errorBody(fault.code, category));
    }
    const rejection = this.validate(commands);
    if (rejection !== undefined) return rejection;
    const { commandId, submissionId, userId, actAs } = commands;
    const offset = this.commit(commands);
    this.commits.push({ commandId, change, submissionId, offset, atMs: queueScheduler.now(), era: this.era });
    this.complete({ offset, commandId, userId, actAs, submissionId });
    if (fault?.kind === 'failedAfterCommit')
      return errorReply(failureStatus[fault.code], errorBody(fault.code, failureCategory[fault.code]));
    const { update } = this.elementAt(offset) as TransactionElement;
    return ok({ transaction: update.Transaction.value });
  }

  private completionList({ body, query }: ServiceRequest): Reply {
    const begin = Number(body['beginExclusive']);
    if (begin < this.ledger.pruned) return errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9));
    const { hasCheckpoints, completions } = this.behavior;
    const parties = body['parties'] as readonly string[] | undefined;
    const found = this.completions.flatMap((element) => {
      const { value } = (element as CompletionElement).completionResponse.Completion;
      const actAs = value.actAs.filter((party) => parties?.includes(party) ?? true);
      const isOfUser = completions === 'command-completions' || value.userId === body['userId'];
      // a completion does not show the parties that were not asked for
      const shown = { completionResponse: { Completion: { value: { ...value, actAs } } } };
      return value.offset > begin && isOfUser && actAs.length > 0 ? [shown] : [];
    });
    const end = {
      completionResponse: { OffsetCheckpoint: { value: { offset: this.ledger.end, synchronizerTimes: [] } } },
    };
    const all = hasCheckpoints ? [...found, end] : found;
    return ok(all.slice(0, Number(query['limit'] ?? Infinity)));
  }

  private updateAt(offset: number): Reply {
    const element = this.elementAt(offset);
    if (element === undefined || offset <= this.ledger.pruned)
      return errorReply(404, errorBody('UPDATE_NOT_FOUND', 11));
    return ok(element);
  }

  private elementAt(offset: number): object | undefined {
    return this.ledger.between(offset - 1, offset)[0]?.element;
  }
}

const isWithin = (period: Period, { offset, atMs }: CommandCommit): boolean =>
  'DeduplicationOffset' in period
    ? offset > period.DeduplicationOffset.value
    : atMs >= queueScheduler.now() - durationMs(period);

/** The default is as short as participants have it. */
const durationMs = (period: Period): number => {
  if (!('DeduplicationDuration' in period)) return 30_000;
  const { seconds, nanos } = period.DeduplicationDuration.value;
  return seconds * 1_000 + (nanos ?? 0) / 1e6;
};

const signedCommands = (body: ServiceRequest['body']): SubmittedCommands => {
  const { userId, submissionId, deduplicationPeriod, partySignatures } = body as unknown as ExecuteRequest;
  return {
    commandId: signedCommandId,
    userId: userId ?? '',
    submissionId: submissionId ?? '',
    actAs: partySignatures.signatures.map(({ party }) => party),
    commands: [],
    deduplicationPeriod: deduplicationPeriod ?? { Empty: {} },
    disclosedContracts: [],
    isSigned: true,
  };
};

/** The reply for a contract without known events. */
export const noEvents: Reply = errorReply(404, errorBody('CONTRACT_EVENTS_NOT_FOUND', 11));

const failureStatus = { UPDATE_NOT_FOUND: 404, INDEX_DB_SQL_TRANSIENT_ERROR: 503, NA: 500 };

const failureCategory = { UPDATE_NOT_FOUND: 11, INDEX_DB_SQL_TRANSIENT_ERROR: 1, NA: -1 };

const lose = (how: Loss, afterMs: number): Observable<Reply> => {
  switch (how) {
    case 'reset':
      return timer(afterMs).pipe(switchMap(() => throwError(() => brokenConnection)));
    case 'silence':
      return NEVER;
    case '503':
      return of(timedOut).pipe(delay(httpTimeoutMs));
    case '502':
      return of(errorReply(502, '<html></html>')).pipe(delay(afterMs));
    case 'garbled':
      return of({ ...ok({}), text: '{"transaction":{"upd' }).pipe(delay(afterMs));
  }
};
