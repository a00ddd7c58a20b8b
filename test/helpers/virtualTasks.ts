import { asyncScheduler, delay, interval, map, merge, type Observable, takeWhile, throwError } from 'rxjs';
import type { Command } from '../../src/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { socketTransport } from '../../src/ws/socketTransport.js';
import { away, home, templateOf } from '../contracts/joinSupport.js';
import { type CommandFault, CommandService, noEvents, type SubmittedCommands } from './CommandService.js';
import {
  active,
  type Activation,
  archived,
  assigned,
  created,
  incompleteUnassigned,
  type Move,
  reassignmentOf,
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
import { VirtualContracts } from './virtualContracts.js';
import type { VirtualLedger } from './virtualLedger.js';
import { checkpoint, errorBody, errorReply, refusedConnection, transactionWith } from './wire.js';

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
  readonly createdOffset: number;
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

/** The time between two checkpoints of a WebSocket, in milliseconds. */
const checkpointMs = 20_000;

/** A participant in virtual time with contracts, on which commands act. */
export class VirtualTasks extends CommandService {
  readonly attempts: TaskAttempt[] = [];
  readonly participant: VirtualContracts;
  readonly service: ScriptedService;
  /** What happens to an attempt, by its command id and its number for that command. */
  faultOf: (commandId: string, attempt: number) => CommandFault | undefined = () => undefined;
  private readonly tasks = new Map<string, Task>();
  private readonly counts = new Map<string, number>();

  constructor(private readonly options: TaskOptions = {}) {
    const { latencyMs = 1, commitMs = 5 } = options;
    super({ latencyMs, commitMs, hasCheckpoints: true, completions: 'completions' });
    this.participant = new VirtualContracts({
      latencyMs,
      participantId: 'participant::1220',
      earlyCheckpointMs: 500,
      recordTime: () => this.recordTime(),
    });
    this.participant.elementsAt = (offset) => this.elementsAt(offset);
    this.service = scriptedService(this.reply);
  }

  get ledger(): VirtualLedger {
    return this.participant.ledger;
  }

  get end(): number {
    return this.ledger.end;
  }

  /** A client, as each process has one. */
  connect(): Ledger {
    const { ledger } = this;
    const sockets = scriptedSockets((request) => {
      if (this.isDown()) return throwError(() => refusedConnection);
      const checkpoint$ = interval(checkpointMs).pipe(map(() => socketText(checkpoint(ledger.end, this.recordTime()))));
      // the socket delivers in order
      return merge(ledger.streamText(request), checkpoint$).pipe(
        delay(this.options.lagMs ?? 0),
        takeWhile(({ _tag }) => _tag !== 'End', true),
      );
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

  /** Puts another ledger in the place of this one. */
  replace(...contractIds: readonly string[]): void {
    this.forget();
    this.tasks.clear();
    this.ledger.replace([], 0, `participant-${this.era}::1220`);
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

  protected recordTime(): string {
    return new Date(asyncScheduler.now()).toISOString();
  }

  protected updateIdAt(offset: number): string {
    return `1220${this.era}${offset}`;
  }

  protected receive(_: unknown, { commandId, commands, deduplicationPeriod }: SubmittedCommands) {
    const count = (this.counts.get(commandId) ?? 0) + 1;
    this.counts.set(commandId, count);
    const since = 'DeduplicationOffset' in deduplicationPeriod ? deduplicationPeriod.DeduplicationOffset.value : NaN;
    this.attempts.push({ commandId, atMs: asyncScheduler.now(), since, commands });
    return this.faultOf(commandId, count);
  }

  protected interpret({ commands, disclosedContracts }: SubmittedCommands): Reply | undefined {
    for (const contractId of commands.flatMap(usedBy)) {
      const isDisclosed = disclosedContracts.some((disclosed) => disclosed.contractId === contractId);
      if (!this.isActive(contractId) && !isDisclosed) return errorReply(404, errorBody('CONTRACT_NOT_FOUND', 11));
      if (this.isInFlight(contractId)) return errorReply(400, errorBody('UNKNOWN_CONTRACT_SYNCHRONIZERS', 9));
    }
    return undefined;
  }

  protected validate({ commands }: SubmittedCommands): Reply | undefined {
    const isUsable = (contractId: string): boolean => this.isActive(contractId) && !this.isInFlight(contractId);
    if (commands.flatMap(usedBy).every(isUsable)) return undefined;
    return errorReply(404, errorBody('LOCAL_VERDICT_INACTIVE_CONTRACTS', 11));
  }

  protected commit({ commandId, commands }: SubmittedCommands): number {
    return this.transact(commandId, (at) =>
      commands.flatMap((command, nodeId) => this.eventsOfCommand(command, at, nodeId)),
    );
  }

  protected contractEvents(contractId: string): Reply {
    const task = this.task(contractId);
    return task === undefined
      ? noEvents
      : this.eventsOf(contractId, task.archivedAt, { createdAt: task.createdOffset });
  }

  protected answer(request: ServiceRequest): Observable<Reply> {
    return this.participant.reply(request);
  }

  /** What a command does: `Touch` does not archive its contract, and any other choice does. */
  private eventsOfCommand(command: Command, offset: number, nodeId: number): object[] {
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
      createdAt: this.recordTime(),
      createdOffset: offset,
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
    const fields = { commandId, updateId: this.updateIdAt(offset), synchronizerId: home, events: eventsAt(offset) };
    this.append(offset, transactionWith(offset, fields));
    return offset;
  }

  private append(offset: number, element: object): void {
    this.participant.append({ offset, element, events: [] });
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
}

/** The command ids of commits, each as often as it was committed. */
export const committedIds = ({ commits }: VirtualTasks): readonly string[] => commits.map(({ commandId }) => commandId);

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
