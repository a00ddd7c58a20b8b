import { asyncScheduler, type Observable } from 'rxjs';
import type { TraceContext } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { Contract } from '../contracts/Contract.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { Decision } from './decide.js';
import type { Rule } from './Rule.js';

/** A decision that is submitted, until its outcome is known. */
export interface Submission extends Decision {
  readonly request: NonNullable<Decision['request']>;
  /** The offset of the contracts by which it was decided. */
  readonly decidedAt: Offset;
  /** The deduplication offset; absent until the decision is sent. */
  since?: Offset;
  /** Subscribed to again while the outcome is unknown, because it continues with the same commands. */
  transaction$?: Observable<SubmittedTransaction> | undefined;
}

/** What a rule knows of a contract. */
export interface Entry {
  contract: Contract;
  /**
   * - `scheduled`: due at a time, or now.
   * - `idle`: nothing to do until the contracts change.
   * - `busy`: a decision or a submission is in progress.
   * - `waiting`: the view has not passed an offset yet, such as that of the transaction.
   * - `retrying`: failed, and due again at a time.
   */
  state: 'scheduled' | 'idle' | 'busy' | 'waiting' | 'retrying';
  /** When the rule became due, in milliseconds; `Infinity` if it threw. */
  dueTime: number;
  /** Whether the view no longer has the contract. */
  isGone: boolean;
  /** The offset of the creation; `undefined` if the contract was reassigned before it was seen. */
  readonly createdOffset: Offset | undefined;
  /** The trace in which it was created; `undefined` if it is from a snapshot. */
  readonly traceContext: TraceContext | undefined;
  /** The rounds that need no further action. */
  readonly endedRounds: Set<string>;
  /** The round in which there was nothing to do when the contracts last changed. */
  idleRound: string | undefined;
  /** The number of failures since the last success. */
  failures: number;
  /** The number of lost races since the last success. */
  races: number;
  /** The delay after the last of them, in milliseconds. */
  delayMs: number;
  /** What is submitted, from the decision until its outcome is known. */
  submission: Submission | undefined;
  /** The offset that the view must pass before the contract is looked at again. */
  awaits: Offset;
}

/** Returns the entry of a contract that was not known before. */
export const newEntry = (contract: Contract, traceContext?: TraceContext): Entry => ({
  contract,
  state: 'idle',
  dueTime: Infinity,
  isGone: false,
  createdOffset: contract.reassignmentCounter === 0 ? contract.offset : undefined,
  traceContext,
  endedRounds: new Set(),
  idleRound: undefined,
  failures: 0,
  races: 0,
  delayMs: 0,
  submission: undefined,
  awaits: 0,
});

/** Whether an action was sent whose outcome is not known. */
export const isOpen = ({ submission }: Entry): boolean => submission?.transaction$ !== undefined;

/** When a rule wants to act on a contract, in milliseconds; `undefined` if it does not. Throws what the rule throws. */
export function dueAt(rule: Rule, { contract, endedRounds, idleRound }: Entry): number | undefined {
  // a contract in flight cannot be used
  if (!('synchronizerId' in contract.location)) return undefined;
  if (rule.where !== undefined && !rule.where(contract)) return undefined;
  const round = rule.round?.(contract) ?? '';
  if (round === idleRound || endedRounds.has(round)) return undefined;
  const now = asyncScheduler.now();
  // without a time, the oldest contract comes first
  if (rule.dueAt === undefined) return Math.min(now, Date.parse(contract.createdAt));
  const at = rule.dueAt(contract)?.getTime();
  if (Number.isNaN(at)) throw new TypeError('dueAt must return a valid Date or undefined');
  return at;
}
