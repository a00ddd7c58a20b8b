import { asyncScheduler, type Observable } from 'rxjs';
import type { TraceContext } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { AnyContract, Contract } from '../contracts/Contract.js';
import type { ContractsBatch } from '../contracts/ContractChange.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { ActionRequest, Rule } from './Rule.js';

/** What a rule decided to submit, until its outcome is known. */
export interface Submission {
  readonly round: string;
  readonly request: Omit<ActionRequest, 'deduplicationPeriod'>;
  /** The offset of the contracts by which it was decided; -1 if that means nothing any more. */
  decidedAt: Offset;
  /** The deduplication offset; absent until the decision is sent. */
  since?: Offset | undefined;
  /** Subscribed to again while the outcome is unknown, because it continues with the same commands. */
  transaction$?: Observable<SubmittedTransaction> | undefined;
}

/** What a rule knows of a contract. */
export class Entry {
  /**
   * - `scheduled`: due at a time, or now.
   * - `idle`: nothing to do until the contracts change.
   * - `busy`: a decision or a submission is in progress.
   * - `waiting`: the view has not passed an offset yet, such as that of the transaction.
   * - `retrying`: failed, and due again at a time.
   */
  state: 'scheduled' | 'idle' | 'busy' | 'waiting' | 'retrying' = 'idle';
  /** When the rule became due, in milliseconds; `Infinity` if it threw. */
  dueTime = Infinity;
  /** Whether the view no longer has the contract. */
  isGone = false;
  /** The offset of the creation; `undefined` if the contract was reassigned before it was seen, until it is read. */
  createdOffset: Offset | undefined;
  /** Whether the offset of the creation is known, as far as the participant has it. */
  isCreationKnown: boolean;
  /** The round that was given up, because the participant has pruned what would make the action safe. */
  parkedRound: string | undefined;
  /** The rounds that need no further action. */
  readonly endedRounds = new Set<string>();
  /** The round in which there was nothing to do when the contracts last changed. */
  idleRound: string | undefined;
  /** The number of failures since the last success. */
  failures = 0;
  /** The number of lost races since the last success. */
  races = 0;
  /** What is submitted, from the decision until its outcome is known. */
  submission: Submission | undefined;
  /** Whether the view has passed what it must before the contract is looked at again. */
  hasPassed: (known: ContractsBatch<AnyContract>) => boolean = () => true;

  constructor(
    public contract: Contract,
    /** The trace in which it was created; `undefined` if it is from a snapshot. */
    readonly traceContext?: TraceContext,
  ) {
    this.isCreationKnown = contract.reassignmentCounter === 0;
    this.createdOffset = this.isCreationKnown ? contract.offset : undefined;
  }

  /** Whether an action was sent whose outcome is not known. */
  get isOpen(): boolean {
    return this.submission?.transaction$ !== undefined;
  }

  /** The view is at other offsets of the same history: those that are known mean nothing any more. */
  forgetOffsets(): void {
    this.createdOffset = undefined;
    this.isCreationKnown = false;
    if (this.submission === undefined) return;
    this.submission.decidedAt = -1;
    if (!this.isOpen) this.submission.since = undefined;
  }

  /** When a rule wants to act on the contract, in milliseconds; `undefined` if it does not. Throws what the rule throws. */
  dueAt(rule: Rule): number | undefined {
    const { contract } = this;
    // a contract in flight cannot be used
    if (!('synchronizerId' in contract.location)) return undefined;
    if (rule.where !== undefined && !rule.where(contract)) return undefined;
    const round = rule.round?.(contract) ?? '';
    if (round === this.idleRound || this.endedRounds.has(round)) return undefined;
    const now = asyncScheduler.now();
    // without a time, the oldest contract comes first
    if (rule.dueAt === undefined) return Math.min(now, Date.parse(contract.createdAt));
    const at = rule.dueAt(contract)?.getTime();
    if (Number.isNaN(at)) throw new TypeError('dueAt must return a valid Date or undefined');
    return at;
  }
}
