import { map, type Observable, queueScheduler, timer } from 'rxjs';
import {
  type CommandFault,
  CommandService,
  type Completed,
  noEvents,
  type SubmittedCommands,
} from './CommandService.js';
import type { Reply, ServiceRequest } from './scripted.js';
import { VirtualLedger } from './virtualLedger.js';
import { errorBody, errorReply, notFound, reassignmentWith, transactionWith } from './wire.js';

/** What the commands do: create a contract, or exercise a choice on one that another party may archive. */
export type CommandKind = 'create' | 'consume' | 'nonConsuming';

/** How a virtual participant behaves. */
export interface CommandPlan {
  readonly kind: CommandKind;
  readonly latencyMs: number;
  /** Whether open-ended streams have checkpoints: since 3.5. */
  readonly hasCheckpoints: boolean;
  /** The paths of the completions. */
  readonly completions: 'completions' | 'command-completions';
  /** Whether attempts wait until their earliest ledger time. */
  readonly holds?: boolean;
  /** What happens to the first attempts, one after the other. */
  readonly faults: readonly (CommandFault | null)[];
}

/** Who submitted the transaction of another. */
type Submitter = Partial<Pick<Completed, 'userId' | 'actAs' | 'submissionId'>>;

/** The contract on which the commands exercise a choice. */
export const contractId = `00${'c'.repeat(64)}`;

/** A participant in virtual time with one contract, on which all commands act. */
export class VirtualCommands extends CommandService {
  readonly ledger: VirtualLedger;
  /** The bodies of the attempts that reached the participant or were lost. */
  readonly attempts: ServiceRequest['body'][] = [];
  /** Whether the creation of the contract is pruned, and its archival is not. */
  isBlobPruned = false;
  /** Whether the transactions of the commands have a field that cannot be decoded. */
  isUndecodable = false;
  private archivedAt: number | undefined;
  /** Whether the contract was never on this ledger. */
  private isMissing = false;

  constructor(private readonly plan: CommandPlan) {
    super({ ...plan, commitMs: plan.latencyMs });
    this.ledger = new VirtualLedger({
      latencyMs: plan.latencyMs,
      participantId: 'participant::1220',
      ...(plan.hasCheckpoints && { earlyCheckpointMs: 500 }),
      recordTime: () => this.recordTime(),
    });
    this.ledger.append(10, this.transaction(10, ''));
  }

  /** Another party archives the contract, unless it is archived already. */
  archive(commandId = '', completed: Submitter = {}): void {
    if (this.archivedAt !== undefined) return;
    this.archivedAt = this.appendOther(commandId, completed);
  }

  /** Another transaction. With a command id, it is that of another user, or of the same user for other parties. */
  appendOther(
    commandId: string,
    { userId = 'somebody-else', actAs = ['alice::1220'], submissionId = 'other' }: Submitter = {},
  ): number {
    const offset = this.ledger.end + 1;
    this.ledger.append(offset, this.transaction(offset, commandId));
    if (commandId !== '') this.complete({ offset, commandId, userId, actAs, submissionId });
    return offset;
  }

  /** Prunes what the participant must not remember any longer. */
  pruneOlderThan(keptMs: number): void {
    const until = queueScheduler.now() - keptMs;
    const old = this.ledger.between(0, this.ledger.end).findLast(({ element }) => timeOf(element) <= until);
    if (old !== undefined) this.prune(old.offset, keptMs);
  }

  /** A backup from before all commands is restored. Nothing comes back. */
  restore(): void {
    this.forget();
    this.archivedAt = undefined;
    this.ledger.restore(10);
  }

  /** Another ledger takes the place of this one, with fewer updates. */
  replace(participantId: string): void {
    this.forget();
    this.isMissing = true;
    this.archivedAt = undefined;
    const entries = [1, 2, 3].map((offset) => ({ offset, element: this.transaction(offset, '') }));
    this.ledger.replace(entries, 3, participantId);
  }

  /** An automatic reassignment for the commands: its completion has the ids of an attempt. */
  reassign(commandId: string, submissionId = 'reassigned'): void {
    const offset = this.ledger.end + 1;
    this.ledger.append(offset, reassignmentWith(offset, { commandId }));
    const submitter = { userId: 'me', actAs: ['alice::1220'] };
    this.complete({ offset, commandId, ...submitter, submissionId, isReassignment: true });
  }

  protected recordTime(): string {
    return new Date(Date.UTC(2026, 6, 24) + queueScheduler.now()).toISOString();
  }

  protected updateIdAt(offset: number): string {
    return `1220${'ab'.repeat(this.era)}${offset}`;
  }

  protected receive(body: ServiceRequest['body']): CommandFault | undefined {
    return this.plan.faults[this.attempts.push(body) - 1] ?? undefined;
  }

  /** A disclosed contract may be archived. */
  protected interpret({ disclosedContracts, isSigned = false }: SubmittedCommands): Reply | undefined {
    const isDisclosed = disclosedContracts.some((disclosed) => disclosed.contractId === contractId);
    return this.isUsable() || isDisclosed || isSigned
      ? undefined
      : errorReply(404, errorBody('CONTRACT_NOT_FOUND', 11));
  }

  protected validate(): Reply | undefined {
    return this.isUsable() ? undefined : errorReply(404, errorBody('LOCAL_VERDICT_INACTIVE_CONTRACTS', 11));
  }

  protected commit({ commandId, isSigned = false }: SubmittedCommands): number {
    const offset = this.ledger.end + 1;
    const hash = isSigned && { externalTransactionHash: signedHash.toString('hex') };
    this.ledger.append(
      offset,
      this.transaction(offset, commandId, { events: this.isUndecodable ? 'none' : [], ...hash }),
    );
    if (this.plan.kind === 'consume') this.archivedAt = offset;
    return offset;
  }

  protected contractEvents(): Reply {
    return this.isMissing
      ? noEvents
      : this.eventsOf(contractId, this.archivedAt, { isBlobPruned: this.isBlobPruned, createdAt: 1 });
  }

  protected answer(request: ServiceRequest): Observable<Reply> {
    if (!request.path.startsWith('/v2/commands/')) return this.ledger.reply(request);
    return timer(this.plan.latencyMs).pipe(map(() => notFound));
  }

  private isUsable(): boolean {
    return this.plan.kind === 'create' || (this.archivedAt === undefined && !this.isMissing);
  }

  private transaction(offset: number, commandId: string, fields: object = {}): object {
    const time = this.recordTime();
    const updateId = this.updateIdAt(offset);
    return transactionWith(offset, { updateId, commandId, effectiveAt: time, recordTime: time, ...fields });
  }
}

/** The hash of all signed transactions. */
export const signedHash = Buffer.alloc(32, 0xab);

const timeOf = (element: object): number =>
  Date.parse(/"recordTime":"([^"]+)"/.exec(JSON.stringify(element))?.[1] ?? '') - Date.UTC(2026, 6, 24);
