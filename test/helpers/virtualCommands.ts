import { asyncScheduler, delay, map, NEVER, Observable, of, ReplaySubject, switchMap, throwError, timer } from 'rxjs';
import type { DeduplicationPeriod } from '../../src/index.js';
import type { Reply, ServiceRequest } from './scripted.js';
import { VirtualLedger } from './virtualLedger.js';
import { errorBody, errorReply, notFound, ok, synchronizerId } from './wire.js';

/** What the commands do: create a contract, or exercise a choice on one that another party may archive. */
export type CommandKind = 'create' | 'consume' | 'nonConsuming';

/** How a response is lost. */
export type Loss = 'reset' | 'silence' | '503' | '502' | 'garbled';

/** What happens to one attempt, at one of the steps of a participant. */
export type CommandFault =
  | { readonly kind: 'refusedConnection' }
  /** The request is lost before the participant receives it. */
  | { readonly kind: 'lostRequest'; readonly how: Loss }
  /** The participant refuses the attempt before it registers it. */
  | { readonly kind: 'refused'; readonly code: RefusalCode }
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

export type RefusalCode = keyof typeof refusalCodes;
export type RejectionCode = keyof typeof rejectionCodes;

/** How a virtual participant behaves. */
export interface CommandPlan {
  readonly kind: CommandKind;
  readonly latencyMs: number;
  /** Whether open-ended streams have checkpoints: since 3.5. */
  readonly hasCheckpoints: boolean;
  /** The paths of the completions. */
  readonly completions: 'completions' | 'command-completions';
  /** What happens to the first attempts, one after the other. */
  readonly faults: readonly (CommandFault | null)[];
}

/** A commit of commands. */
export interface CommandCommit {
  readonly change: string;
  readonly offset: number;
  readonly submissionId: string;
  readonly atMs: number;
}

/** The contract on which the commands exercise a choice. */
export const contractId = `00${'c'.repeat(64)}`;

const refusedConnection = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

export const submitPath = '/v2/commands/submit-and-wait-for-transaction';

/** The longest time that the HTTP layer waits for a response, in milliseconds. */
const httpTimeoutMs = 20_000;

const timedOut = errorReply(503, 'The server was not able to produce a timely response to your request.');

/** A participant in virtual time that works on commands in the order of a real one. */
export class VirtualCommands {
  readonly commits: CommandCommit[] = [];
  readonly ledger: VirtualLedger;
  /** The bodies of the attempts that reached the participant or were lost. */
  readonly attempts: ServiceRequest['body'][] = [];
  /** Whether the creation of the contract is pruned, and its archival is not. */
  isBlobPruned = false;
  /** Whether the transactions of the commands have a field that cannot be decoded. */
  isUndecodable = false;
  private downUntil = 0;
  private prunedAt = -Infinity;
  private archivedAt: number | undefined;
  private readonly inFlight = new Map<string, string>();
  private readonly completions: object[] = [];

  constructor(private readonly plan: CommandPlan) {
    this.ledger = new VirtualLedger({
      latencyMs: plan.latencyMs,
      participantId: 'participant::1220',
      ...(plan.hasCheckpoints && { earlyCheckpointMs: 500 }),
      recordTime: () => this.recordTime,
    });
    this.ledger.append(10, this.transaction(10, ''));
  }

  /** Another party archives the contract, unless it is archived already. */
  archive(): void {
    if (this.archivedAt !== undefined) return;
    this.archivedAt = this.appendOther('');
  }

  /** Another transaction. With a command id, it is that of another user, or of the same user for other parties. */
  appendOther(
    commandId: string,
    { userId = 'somebody-else', actAs = ['alice::1220'] }: Partial<Submitter> = {},
  ): number {
    const offset = this.ledger.end + 1;
    this.ledger.append(offset, this.transaction(offset, commandId));
    if (commandId !== '') this.complete({ offset, commandId, userId, actAs, submissionId: 'other' });
    return offset;
  }

  /** An automatic reassignment for the commands: its completion has their ids. */
  reassign(commandId: string): void {
    const offset = this.ledger.end + 1;
    this.ledger.append(offset, reassignment(offset, commandId));
    const submitter = { userId: 'me', actAs: ['alice::1220'] };
    this.complete({ offset, commandId, ...submitter, submissionId: 'reassigned', isReassignment: true });
  }

  /** Prunes everything so far. */
  prune(): void {
    this.prunedAt = asyncScheduler.now();
    this.ledger.pruned = this.ledger.end;
  }

  /** For a while, no connection can be established. */
  goDown(ms: number): void {
    this.downUntil = Math.max(this.downUntil, asyncScheduler.now() + ms);
    this.ledger.disconnect();
  }

  /** The replies for `scriptedService`. */
  readonly reply = (request: ServiceRequest): Observable<Reply> => {
    const { latencyMs } = this.plan;
    if (asyncScheduler.now() < this.downUntil) return throwError(() => refusedConnection);
    const later = (reply: () => Reply): Observable<Reply> => timer(latencyMs).pipe(map(reply));
    switch (request.path) {
      case submitPath:
        return this.receive(request.body);
      case '/v2/updates/update-by-offset':
        return later(() => this.updateAt(Number(request.body['offset'])));
      case '/v2/events/events-by-contract-id':
        return later(() => this.contractEvents());
      case `/v2/commands/${this.plan.completions}`:
        return later(() => this.completionList(request));
      default:
        return request.path.startsWith('/v2/commands/') ? later(() => notFound) : this.ledger.reply(request);
    }
  };

  private get recordTime(): string {
    return new Date(Date.UTC(2026, 6, 24) + asyncScheduler.now()).toISOString();
  }

  private receive(body: ServiceRequest['body']): Observable<Reply> {
    const fault = this.plan.faults[this.attempts.length] ?? undefined;
    this.attempts.push(body);
    switch (fault?.kind) {
      case 'refusedConnection':
        return throwError(() => refusedConnection);
      case 'lostRequest':
        return lose(fault.how, this.plan.latencyMs);
      case 'refused': {
        const [status, category] = refusalCodes[fault.code];
        return of(errorReply(status, errorBody(fault.code, category))).pipe(delay(this.plan.latencyMs));
      }
      case 'lostResponse':
        void this.process(body, fault);
        return lose(fault.how, fault.afterMs);
      default: {
        const reply$ = this.process(body, fault);
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
  private process(body: ServiceRequest['body'], fault: CommandFault | undefined): Observable<Reply> {
    const reply$ = new ReplaySubject<Reply>(1);
    timer(fault?.kind === 'held' ? fault.ms : this.plan.latencyMs)
      .pipe(switchMap(() => this.interpret(body, fault)))
      .subscribe(reply$);
    return reply$;
  }

  /** Steps 3 and 4: interpretation and routing. A disclosed contract may be archived. */
  private interpret(body: ServiceRequest['body'], fault: CommandFault | undefined): Observable<Reply> {
    const { commands } = body as unknown as SubmitBody;
    const isDisclosed = commands.disclosedContracts.some((disclosed) => disclosed.contractId === contractId);
    if (this.plan.kind !== 'create' && this.archivedAt !== undefined && !isDisclosed)
      return of(errorReply(404, errorBody('CONTRACT_NOT_FOUND', 11)));
    return this.register(commands, fault);
  }

  /** Steps 5 to 9. */
  private register(commands: SubmitBody['commands'], fault: CommandFault | undefined): Observable<Reply> {
    const change = JSON.stringify([commands.userId, [...commands.actAs].sort(), commands.commandId]);
    const pending = this.inFlight.get(change);
    if (pending !== undefined) {
      const context = { existingSubmissionId: `Some(${pending})` };
      return of(errorReply(409, errorBody('SUBMISSION_ALREADY_IN_FLIGHT', 2, context)));
    }
    // what is pruned is forgotten
    const earlier = this.commits.findLast((commit) => commit.change === change && commit.offset > this.ledger.pruned);
    const period = commands.deduplicationPeriod;
    const isRepeated = earlier !== undefined && this.isWithin(period, earlier);
    if (isRepeated) {
      const context = { completion_offset: String(earlier.offset), accepted: 'true' };
      return of(errorReply(409, errorBody('DUPLICATE_COMMAND', 10, context)));
    }
    if (earlier === undefined && this.isPruned(period)) {
      const context = { earliest_offset: String(this.ledger.pruned) };
      return of(errorReply(400, errorBody('INVALID_DEDUPLICATION_PERIOD', 9, context)));
    }
    this.inFlight.set(change, commands.submissionId);
    const takesMs = fault?.kind === 'slow' ? fault.ms : this.plan.latencyMs;
    const afterMs = fault?.kind === 'rejected' ? fault.afterMs : takesMs;
    return timer(afterMs).pipe(
      map(() => {
        this.inFlight.delete(change);
        return this.decide(change, commands, fault);
      }),
    );
  }

  private isWithin(period: Period, { offset, atMs }: CommandCommit): boolean {
    return 'DeduplicationOffset' in period
      ? offset > period.DeduplicationOffset.value
      : atMs >= asyncScheduler.now() - period.DeduplicationDuration.value.seconds * 1_000;
  }

  private isPruned(period: Period): boolean {
    return 'DeduplicationOffset' in period
      ? period.DeduplicationOffset.value < this.ledger.pruned
      : asyncScheduler.now() - period.DeduplicationDuration.value.seconds * 1_000 <= this.prunedAt;
  }

  private decide(change: string, commands: SubmitBody['commands'], fault: CommandFault | undefined): Reply {
    if (fault?.kind === 'rejected') {
      const [status, category] = rejectionCodes[fault.code];
      return errorReply(status, errorBody(fault.code, category));
    }
    if (this.plan.kind !== 'create' && this.archivedAt !== undefined)
      return errorReply(404, errorBody('LOCAL_VERDICT_INACTIVE_CONTRACTS', 11));
    const { commandId, submissionId, userId, actAs } = commands;
    const offset = this.ledger.end + 1;
    const element = this.transaction(offset, commandId, this.isUndecodable ? 'none' : []);
    this.ledger.append(offset, element);
    this.commits.push({ change, offset, submissionId, atMs: asyncScheduler.now() });
    this.complete({ offset, commandId, userId, actAs, submissionId });
    if (this.plan.kind === 'consume') this.archivedAt = offset;
    if (fault?.kind === 'failedAfterCommit')
      return errorReply(failureStatus[fault.code], errorBody(fault.code, failureCategory[fault.code]));
    return ok({ transaction: element.update.Transaction.value });
  }

  private complete({ isReassignment = false, ...completion }: Completion): void {
    this.completions.push({
      completionResponse: {
        Completion: {
          value: {
            ...completion,
            updateId: `1220${completion.offset}`,
            status: { code: 0, message: '', details: [] },
            deduplicationPeriod: isReassignment ? { Empty: {} } : { DeduplicationOffset: { value: 0 } },
            synchronizerTime: { synchronizerId, recordTime: this.recordTime },
          },
        },
      },
    });
  }

  private completionList({ body, query }: ServiceRequest): Reply {
    const begin = Number(body['beginExclusive']);
    if (begin < this.ledger.pruned) return errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9));
    const found = this.completions.filter((element) => {
      const { offset, userId } = (element as CompletionElement).completionResponse.Completion.value;
      return offset > begin && (this.plan.completions === 'command-completions' || userId === body['userId']);
    });
    const end = {
      completionResponse: { OffsetCheckpoint: { value: { offset: this.ledger.end, synchronizerTimes: [] } } },
    };
    const all = this.plan.hasCheckpoints ? [...found, end] : found;
    return ok(all.slice(0, Number(query['limit'] ?? Infinity)));
  }

  private updateAt(offset: number): Reply {
    const [entry] = this.ledger.between(offset - 1, offset);
    if (entry === undefined || offset <= this.ledger.pruned) return errorReply(404, errorBody('UPDATE_NOT_FOUND', 11));
    return ok(entry.element);
  }

  private contractEvents(): Reply {
    const archivedAt = this.archivedAt;
    if (archivedAt !== undefined && archivedAt <= this.ledger.pruned)
      return errorReply(404, errorBody('CONTRACT_EVENTS_NOT_FOUND', 11));
    return ok({
      created: this.isBlobPruned
        ? null
        : { createdEvent: { contractId, templateId: 'p:M:T', createdEventBlob: 'AAAA' }, synchronizerId },
      archived: archivedAt === undefined ? null : { archivedEvent: { contractId, offset: archivedAt }, synchronizerId },
    });
  }

  private transaction(offset: number, commandId: string, events: unknown = []) {
    const value = {
      updateId: `1220${offset}`,
      commandId,
      workflowId: '',
      effectiveAt: this.recordTime,
      events,
      offset,
      synchronizerId,
      traceContext: null,
      recordTime: this.recordTime,
    };
    return { update: { Transaction: { value } } };
  }
}

export const failureStatus = { UPDATE_NOT_FOUND: 404, INDEX_DB_SQL_TRANSIENT_ERROR: 503, NA: 500 };

export const failureCategory = { UPDATE_NOT_FOUND: 11, INDEX_DB_SQL_TRANSIENT_ERROR: 1, NA: -1 };

interface Submitter {
  readonly userId: string;
  readonly actAs: readonly string[];
}

interface Completion extends Submitter {
  readonly offset: number;
  readonly commandId: string;
  readonly submissionId: string;
  readonly isReassignment?: boolean;
}

interface CompletionElement {
  readonly completionResponse: { readonly Completion: { readonly value: Completion } };
}

type Period = Exclude<DeduplicationPeriod, { readonly Empty: unknown }>;

interface SubmitBody {
  readonly commands: {
    readonly commandId: string;
    readonly userId: string;
    readonly submissionId: string;
    readonly actAs: readonly string[];
    readonly deduplicationPeriod: Period;
    readonly disclosedContracts: readonly { readonly contractId: string }[];
  };
}

function reassignment(offset: number, commandId: string): object {
  const value = {
    updateId: `1220${offset}`,
    commandId,
    workflowId: '',
    offset,
    events: [],
    traceContext: null,
    recordTime: '2026-07-24T10:00:00Z',
    synchronizerId,
  };
  return { update: { Reassignment: { value } } };
}

export const lose = (how: Loss, afterMs: number): Observable<Reply> => {
  switch (how) {
    case 'reset':
      return timer(afterMs).pipe(
        map(() => {
          throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
        }),
      );
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
