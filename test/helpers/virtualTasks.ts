import {
  asyncScheduler,
  delay,
  interval,
  map,
  merge,
  Observable,
  of,
  ReplaySubject,
  switchMap,
  takeWhile,
  throwError,
  timer,
} from 'rxjs';
import type { Command, DeduplicationPeriod } from '../../src/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { socketTransport } from '../../src/ws/socketTransport.js';
import { away, home, templateOf } from '../contracts/joinSupport.js';
import {
  active,
  type Activation,
  archived,
  assigned,
  created,
  incompleteUnassigned,
  type Move,
  reassignmentOf,
  transactionOf,
  unassigned,
} from './contractEvents.js';
import {
  type Reply,
  scriptedService,
  type ScriptedService,
  scriptedSockets,
  type ServiceRequest,
  socketText,
} from './scripted.js';
import {
  type CommandFault,
  failureCategory,
  failureStatus,
  lose,
  refusalCodes,
  rejectionCodes,
  submitPath,
} from './virtualCommands.js';
import { VirtualContracts } from './virtualContracts.js';
import { checkpoint, errorBody, errorReply, ok, synchronizerId } from './wire.js';

/** A commit of commands. */
export interface TaskCommit {
  readonly commandId: string;
  readonly change: string;
  readonly offset: number;
  readonly atMs: number;
  /** The number of the ledger: 0, and more after each replacement. */
  readonly era: number;
}

/** An attempt to submit commands. */
export interface TaskAttempt {
  readonly commandId: string;
  readonly atMs: number;
  /** The deduplication offset. */
  readonly since: number;
  readonly commands: readonly Command[];
}

/** A contract of the virtual participant. */
interface Task {
  readonly contractId: string;
  readonly createdAt: string;
  /** The offset of its creation or its last assignment. */
  activeAt: number;
  counter: number;
  unassignedAt: number | undefined;
  archivedAt: number | undefined;
}

/** How a virtual participant behaves. */
interface TaskOptions {
  readonly latencyMs?: number;
  /** The time from a request to its commit, in milliseconds. */
  readonly commitMs?: number;
  /** How long a WebSocket takes to send an update, in milliseconds. */
  readonly lagMs?: number;
  /** Whether the view reads over HTTP, and not a WebSocket. */
  readonly isPolled?: boolean;
}

const refusedConnection = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const timedOut = errorReply(503, 'The server was not able to produce a timely response to your request.');
const httpTimeoutMs = 20_000;

/** The time between two checkpoints of a WebSocket, in milliseconds. */
const checkpointMs = 20_000;

/** A participant in virtual time with contracts, on which commands act in the steps of a real one. */
export class VirtualTasks {
  readonly commits: TaskCommit[] = [];
  readonly attempts: TaskAttempt[] = [];
  readonly participant: VirtualContracts;
  readonly service: ScriptedService;
  /** What happens to an attempt, by its command id and its number for that command. */
  faultOf: (commandId: string, attempt: number) => CommandFault | undefined = () => undefined;
  private readonly tasks = new Map<string, Task>();
  private readonly counts = new Map<string, number>();
  private readonly inFlight = new Map<string, string>();
  private completions: object[] = [];
  private era = 0;
  private downUntil = 0;
  private readonly commitMs: number;

  constructor(private readonly options: TaskOptions = {}) {
    const { latencyMs = 1, commitMs = 5 } = options;
    this.commitMs = commitMs;
    this.participant = new VirtualContracts({
      latencyMs,
      participantId: 'participant::1220',
      earlyCheckpointMs: 500,
      recordTime: () => recordTime(),
    });
    this.participant.elementsAt = (offset) => this.elementsAt(offset);
    this.service = scriptedService(this.reply);
  }

  get end(): number {
    return this.participant.ledger.end;
  }

  /** A client, as each process has one. */
  connect(): Ledger {
    const { ledger } = this.participant;
    const sockets = scriptedSockets((request) => {
      if (asyncScheduler.now() < this.downUntil) return throwError(() => refusedConnection);
      const checkpoint$ = interval(checkpointMs).pipe(map(() => socketText(checkpoint(ledger.end, recordTime()))));
      const text$ = ledger.streamText(request).pipe(delay(this.options.lagMs ?? 0));
      return merge(text$, checkpoint$).pipe(takeWhile(({ _tag }) => _tag !== 'End', true));
    });
    return createLedger({
      baseUrl: 'http://ledger.example',
      port: this.service.port,
      ...(this.options.isPolled !== true && { transport: socketTransport(sockets.port) }),
      retry: { baseDelayMs: 100, maxDelayMs: 10_000 },
    });
  }

  /** Creates contracts. Returns the offset. */
  create(...contractIds: readonly string[]): number {
    return this.transact('', (offset) =>
      contractIds.map((contractId, nodeId) => this.created(contractId, offset, nodeId)),
    );
  }

  /** Another party archives a contract, unless it is archived already or in flight. */
  archive(contractId: string): void {
    if (this.task(contractId)?.archivedAt !== undefined || this.isInFlight(contractId)) return;
    this.transact('', (offset) => [this.archived(contractId, offset)]);
  }

  /** A contract leaves its synchronizer, if it is on one. */
  unassign(contractId: string): void {
    const task = this.task(contractId);
    if (task === undefined || task.archivedAt !== undefined || task.unassignedAt !== undefined) return;
    task.counter += 1;
    const offset = (task.unassignedAt = this.end + 1);
    const move = moveOf(task.counter);
    this.append(offset, reassignmentOf(offset, move.source, [unassigned(contractId, offset, move)]));
  }

  /** The contract arrives at its other synchronizer. */
  assign(contractId: string): void {
    const task = this.task(contractId);
    if (task?.unassignedAt === undefined) return;
    const offset = (task.activeAt = this.end + 1);
    task.unassignedAt = undefined;
    const move = moveOf(task.counter);
    this.append(offset, reassignmentOf(offset, move.target, [assigned(activationOf(task), move)]));
  }

  /** Prunes everything so far. */
  prune(): void {
    this.participant.ledger.pruned = this.end;
  }

  /** For a while, no connection can be established. */
  goDown(ms: number): void {
    this.downUntil = Math.max(this.downUntil, asyncScheduler.now() + ms);
    this.participant.ledger.disconnect();
  }

  /** Puts another ledger in the place of this one. */
  replace(...contractIds: readonly string[]): void {
    this.era += 1;
    this.tasks.clear();
    this.inFlight.clear();
    this.completions = [];
    this.participant.ledger.replace([], 0, `participant-${this.era}::1220`);
    this.create(...contractIds);
  }

  /** Whether a contract is active, or may be used now. */
  isActive(contractId: string): boolean {
    const task = this.task(contractId);
    return task !== undefined && task.archivedAt === undefined;
  }

  isInFlight(contractId: string): boolean {
    return this.task(contractId)?.unassignedAt !== undefined;
  }

  private task(contractId: string): Task | undefined {
    return this.tasks.get(contractId);
  }

  private readonly reply = (request: ServiceRequest): Observable<Reply> => {
    const { latencyMs = 1 } = this.options;
    if (asyncScheduler.now() < this.downUntil) return throwError(() => refusedConnection);
    const later = (reply: () => Reply): Observable<Reply> => timer(latencyMs).pipe(map(reply));
    switch (request.path) {
      case submitPath:
        return this.receive(request.body as unknown as SubmitBody);
      case '/v2/updates/update-by-offset':
        return later(() => this.updateAt(Number(request.body['offset'])));
      case '/v2/events/events-by-contract-id':
        return later(() => this.contractEvents(String(request.body['contractId'])));
      case '/v2/commands/completions':
        return later(() => this.completionList(request));
      default:
        return this.participant.reply(request);
    }
  };

  private receive({ commands }: SubmitBody): Observable<Reply> {
    const { commandId } = commands;
    const count = (this.counts.get(commandId) ?? 0) + 1;
    this.counts.set(commandId, count);
    const since = commands.deduplicationPeriod.DeduplicationOffset?.value ?? NaN;
    this.attempts.push({ commandId, atMs: asyncScheduler.now(), since, commands: commands.commands });
    const fault = this.faultOf(commandId, count);
    const { latencyMs = 1 } = this.options;
    switch (fault?.kind) {
      case 'refusedConnection':
        return throwError(() => refusedConnection);
      case 'lostRequest':
        return lose(fault.how, latencyMs);
      case 'refused': {
        const [status, category] = refusalCodes[fault.code];
        return of(errorReply(status, errorBody(fault.code, category))).pipe(delay(latencyMs));
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
  private process(commands: Submitted, fault: CommandFault | undefined): Observable<Reply> {
    const reply$ = new ReplaySubject<Reply>(1);
    const { era } = this;
    timer(fault?.kind === 'held' ? fault.ms : (this.options.latencyMs ?? 1))
      .pipe(switchMap(() => (era === this.era ? this.interpret(commands, fault) : throwError(() => refusedConnection))))
      .subscribe(reply$);
    return reply$;
  }

  private interpret(commands: Submitted, fault: CommandFault | undefined): Observable<Reply> {
    for (const contractId of commands.commands.flatMap(usedBy)) {
      const isDisclosed = commands.disclosedContracts.some((disclosed) => disclosed.contractId === contractId);
      if (!this.isActive(contractId) && !isDisclosed) return of(errorReply(404, errorBody('CONTRACT_NOT_FOUND', 11)));
      if (this.isInFlight(contractId)) return of(errorReply(400, errorBody('UNKNOWN_CONTRACT_SYNCHRONIZERS', 9)));
    }
    return this.register(commands, fault);
  }

  private register(commands: Submitted, fault: CommandFault | undefined): Observable<Reply> {
    const change = JSON.stringify([commands.userId, [...commands.actAs].sort(), commands.commandId]);
    const pending = this.inFlight.get(change);
    if (pending !== undefined) {
      const context = { existingSubmissionId: `Some(${pending})` };
      return of(errorReply(409, errorBody('SUBMISSION_ALREADY_IN_FLIGHT', 2, context)));
    }
    const { pruned } = this.participant.ledger;
    const since = commands.deduplicationPeriod.DeduplicationOffset?.value ?? Infinity;
    // what is pruned is forgotten
    const earlier = this.commits.findLast(
      (commit) => commit.change === change && commit.offset > pruned && commit.era === this.era,
    );
    if (earlier !== undefined && earlier.offset > since) {
      const context = { completion_offset: String(earlier.offset), accepted: 'true' };
      return of(errorReply(409, errorBody('DUPLICATE_COMMAND', 10, context)));
    }
    if (earlier === undefined && since < pruned)
      return of(errorReply(400, errorBody('INVALID_DEDUPLICATION_PERIOD', 9, { earliest_offset: String(pruned) })));
    this.inFlight.set(change, commands.submissionId);
    const takesMs = fault?.kind === 'slow' ? fault.ms : this.commitMs;
    const { era } = this;
    return timer(fault?.kind === 'rejected' ? fault.afterMs : takesMs).pipe(
      map(() => {
        if (era !== this.era) throw refusedConnection;
        this.inFlight.delete(change);
        return this.decide(change, commands, fault);
      }),
    );
  }

  private decide(change: string, commands: Submitted, fault: CommandFault | undefined): Reply {
    if (fault?.kind === 'rejected') {
      const [status, category] = rejectionCodes[fault.code];
      return errorReply(status, errorBody(fault.code, category));
    }
    if (
      commands.commands.flatMap(usedBy).some((contractId) => !this.isActive(contractId) || this.isInFlight(contractId))
    )
      return errorReply(404, errorBody('LOCAL_VERDICT_INACTIVE_CONTRACTS', 11));
    const { commandId, submissionId, actAs } = commands;
    const offset = this.transact(commandId, (at) =>
      commands.commands.flatMap((command, nodeId) => this.eventsOf(command, at, nodeId)),
    );
    this.commits.push({ commandId, change, offset, atMs: asyncScheduler.now(), era: this.era });
    this.complete({ offset, commandId, userId: commands.userId, actAs, submissionId });
    if (fault?.kind === 'failedAfterCommit')
      return errorReply(failureStatus[fault.code], errorBody(fault.code, failureCategory[fault.code]));
    const { update } = this.elementAt(offset) as {
      readonly update: { readonly Transaction: { readonly value: object } };
    };
    return ok({ transaction: update.Transaction.value });
  }

  /** What a command does: `Touch` does not archive its contract, and any other choice does. */
  private eventsOf(command: Command, offset: number, nodeId: number): object[] {
    if ('CreateCommand' in command) {
      const { id } = command.CreateCommand.createArguments as { readonly id?: string };
      return [this.created(id ?? `other-${offset}`, offset, nodeId)];
    }
    if (!('ExerciseCommand' in command) || command.ExerciseCommand.choice === 'Touch') return [];
    return [this.archived(command.ExerciseCommand.contractId, offset)];
  }

  private created(contractId: string, offset: number, nodeId: number): object {
    const task: Task = {
      contractId,
      createdAt: recordTime(),
      activeAt: offset,
      counter: 0,
      unassignedAt: undefined,
      archivedAt: undefined,
    };
    this.tasks.set(contractId, task);
    return created({ ...activationOf(task), nodeId });
  }

  private archived(contractId: string, offset: number): object {
    const task = this.task(contractId);
    if (task !== undefined) task.archivedAt = offset;
    return archived(contractId, offset);
  }

  /** Commits a transaction. Returns its offset. */
  private transact(commandId: string, eventsAt: (offset: number) => readonly object[]): number {
    const offset = this.end + 1;
    const element = transactionOf(offset, home, eventsAt(offset));
    const { value } = (element as { readonly update: { readonly Transaction: { readonly value: object } } }).update
      .Transaction;
    Object.assign(value, { commandId, updateId: `1220${this.era}${offset}` });
    this.append(offset, element);
    return offset;
  }

  private append(offset: number, element: object): void {
    this.participant.append({ offset, element, events: [] });
  }

  private elementAt(offset: number): object | undefined {
    return this.participant.ledger.between(offset - 1, offset)[0]?.element;
  }

  /** The snapshot. The tests never read an older one. */
  private elementsAt(offset: number): readonly object[] {
    return [...this.tasks.values()].flatMap((task) => {
      if (task.activeAt > offset || (task.archivedAt ?? Infinity) <= offset) return [];
      const { unassignedAt, counter } = task;
      if (unassignedAt !== undefined && unassignedAt <= offset)
        return [incompleteUnassigned(activationOf(task), unassignedAt, moveOf(counter))];
      return [active(activationOf(task), counter === 0 ? home : moveOf(counter).target, counter)];
    });
  }

  private complete(completion: Completed): void {
    const value = {
      ...completion,
      updateId: `1220${this.era}${completion.offset}`,
      status: { code: 0, message: '', details: [] },
      deduplicationPeriod: { DeduplicationOffset: { value: 0 } },
      synchronizerTime: { synchronizerId, recordTime: recordTime() },
    };
    this.completions.push({ completionResponse: { Completion: { value } } });
  }

  private completionList({ body, query }: ServiceRequest): Reply {
    const begin = Number(body['beginExclusive']);
    if (begin < this.participant.ledger.pruned)
      return errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9));
    const found = this.completions.filter((element) => {
      const { Completion } = (element as CompletionElement).completionResponse;
      return Completion.value.offset > begin && Completion.value.userId === body['userId'];
    });
    const end = { completionResponse: { OffsetCheckpoint: { value: { offset: this.end, synchronizerTimes: [] } } } };
    return ok([...found, end].slice(0, Number(query['limit'] ?? Infinity)));
  }

  private updateAt(offset: number): Reply {
    const element = this.elementAt(offset);
    if (element === undefined || offset <= this.participant.ledger.pruned)
      return errorReply(404, errorBody('UPDATE_NOT_FOUND', 11));
    return ok(element);
  }

  private contractEvents(contractId: string): Reply {
    const task = this.task(contractId);
    const archivedAt = task?.archivedAt;
    if (task === undefined || (archivedAt !== undefined && archivedAt <= this.participant.ledger.pruned))
      return errorReply(404, errorBody('CONTRACT_EVENTS_NOT_FOUND', 11));
    return ok({
      created: { createdEvent: { contractId, templateId: 'p:M:T', createdEventBlob: 'AAAA' }, synchronizerId },
      archived: archivedAt === undefined ? null : { archivedEvent: { contractId, offset: archivedAt }, synchronizerId },
    });
  }
}

/** The command ids of commits, each as often as it was committed. */
export const committedIds = ({ commits }: VirtualTasks): readonly string[] => commits.map(({ commandId }) => commandId);

const recordTime = (): string => new Date(asyncScheduler.now()).toISOString();

const usedBy = (command: Command): readonly string[] =>
  'ExerciseCommand' in command ? [command.ExerciseCommand.contractId] : [];

const activationOf = ({ contractId, createdAt, activeAt }: Task): Activation => {
  const activation = { contractId, offset: activeAt, createdAt, ...templateOf(contractId) };
  return activation;
};

/** The move of a contract: to the other synchronizer, and back. */
const moveOf = (reassignmentCounter: number): Move => {
  const [source, target] = reassignmentCounter % 2 === 1 ? [home, away] : [away, home];
  return { source, target, reassignmentCounter };
};

interface Submitted {
  readonly commandId: string;
  readonly userId: string;
  readonly submissionId: string;
  readonly actAs: readonly string[];
  readonly commands: readonly Command[];
  readonly deduplicationPeriod: Partial<Extract<DeduplicationPeriod, { readonly DeduplicationOffset: unknown }>>;
  readonly disclosedContracts: readonly { readonly contractId: string }[];
}

interface Completed extends Pick<Submitted, 'commandId' | 'userId' | 'submissionId' | 'actAs'> {
  readonly offset: number;
}

interface SubmitBody {
  readonly commands: Submitted;
}

interface CompletionElement {
  readonly completionResponse: {
    readonly Completion: { readonly value: { readonly offset: number; readonly userId: string } };
  };
}
