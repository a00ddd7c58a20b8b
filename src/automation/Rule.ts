import type { CommandsRequest } from '../codecs/SubmissionRequest.js';
import type { Party, Timestamp } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { Contract, ContractOf, ContractTypes } from '../contracts/Contract.js';
import type { ContractPolicies, ContractQuery } from '../contracts/ContractQuery.js';
import type { ContractSet } from '../contracts/ContractSet.js';
import type { Decision } from '../dispatch/decision.js';
import { hasTag, TaggedError } from '../errors/internal/message.js';

/**
 * A contract of a rule's query whose payload was decoded. A rule does not act on other contracts.
 *
 * @category Automation
 */
export type RuleContract<M extends ContractTypes = ContractTypes> = Extract<ContractOf<M>, Contract>;

/**
 * What `act` gets in addition to the contract.
 *
 * @category Automation
 */
export interface ActionContext<M extends ContractTypes = ContractTypes> {
  /** All contracts of the query, at the same offset as the contract. */
  readonly contracts: ContractSet<ContractOf<M>>;
  /** The number of this decision on the contract and the round, from 1: it grows after failures and lost races. */
  readonly attempt: number;
}

/**
 * A rule: for which contracts to act, when, and how. What there is to do follows from the active contracts alone.
 *
 * An action that archives its contract takes effect once, whatever crashes, restarts, or runs twice. For any other action, the
 * participant recognizes a repetition only until it has pruned the first one. Such a rule needs `done`, or the option
 * `store`; otherwise it does not act on contracts that are older than the pruned offset.
 *
 * @category Automation
 */
export interface Rule<M extends ContractTypes = ContractTypes> {
  /**
   * Identifies the rule, in the command ids: 1 to 60 letters, digits, `-` and `_`. With another name, a rule acts again on
   * contracts that its actions did not archive.
   */
  readonly name: string;
  /** The contracts to watch, as for `liveContracts`. */
  readonly query: ContractQuery<M> & ContractPolicies;
  /** The parties that authorize the actions, at least one. */
  readonly actAs: readonly Party[];
  /** The user that submits. Default: the user of the token. A participant without authentication requires it. */
  readonly userId?: string | undefined;
  /**
   * Whether every action archives the contract that it was called with. Default: the library knows this of `Archive`, and of
   * choices that have always archived their contract since the start. Until then, it acts as carefully as if they did not. Set
   * it to `false` if the choice of an action archives its contract only sometimes.
   */
  readonly consumes?: boolean | undefined;
  /** Selects contracts. It must always return the same result for the same contract. Default: all. */
  where?(contract: RuleContract<M>): boolean;
  /**
   * When to act on the contract, by the clock of this machine; `undefined` for never. Called when the contracts change, after
   * an action, and at least every minute while the time has not come. Default: at once.
   */
  dueAt?(contract: RuleContract<M>): Date | undefined;
  /**
   * Names the occasion of an action, such as a month: the rule acts once for each contract and round. Letters, digits and
   * `#:-_/`. Called when `dueAt` is. Default: one round.
   */
  round?(contract: RuleContract<M>): string;
  /** Whether the contracts show that the action has taken effect. Called before `act`. Default: not known. */
  done?(contract: RuleContract<M>, contracts: ContractSet<ContractOf<M>>): boolean;
  /**
   * Decides what to submit; `undefined` if there is nothing to do until the contract or the contracts change. Only the first
   * value of an Observable counts. An error concerns this contract alone, which is tried again later.
   */
  act(contract: RuleContract<M>, context: ActionContext<M>): Decision;
}

/**
 * The request for an action, as it is submitted.
 *
 * @category Automation
 */
export type ActionRequest = CommandsRequest & {
  /** Follows from the rule, the contract and the round. */
  readonly commandId: string;
  /** Covers every earlier attempt that the participant remembers. */
  readonly deduplicationPeriod: NonNullable<CommandsRequest['deduplicationPeriod']>;
};

/**
 * What a rule did with a contract:
 *
 * - `Committed`: the ledger committed the action. `isRepeated` if an earlier attempt or process had committed it.
 * - `Obsolete`: another transaction archived the contract first. Nothing was committed.
 * - `Failed`: the action failed, and is tried again at `retryAt`, in milliseconds since the epoch. Without `retryAt` this run
 *   does not try it again in the same round.
 *
 * @category Automation
 */
export type Acted =
  | {
      /** The discriminant. */
      readonly _tag: 'Committed';
      /** The contract. */
      readonly contractId: string;
      /** The transaction of the action. */
      readonly transaction: SubmittedTransaction;
      /** Whether an earlier attempt or process had committed it. */
      readonly isRepeated: boolean;
      /** When the contract was created. */
      readonly createdAt: Timestamp;
    }
  | {
      /** The discriminant. */
      readonly _tag: 'Obsolete';
      /** The contract. */
      readonly contractId: string;
    }
  | {
      /** The discriminant. */
      readonly _tag: 'Failed';
      /** The contract. */
      readonly contractId: string;
      /** An error of the submission, or a {@link RuleError}. */
      readonly error: unknown;
      /** When it is tried again, in milliseconds since the epoch. */
      readonly retryAt?: number;
    };

/**
 * Why a rule did not act on a contract. `act`: a function of the rule threw, or returned something else than its type says.
 * `timeout`: `act` did not answer in time. `command`: the command id is not valid, because of the round. `pruned`: the
 * contract is older than what the participant still has, so that the action may have been committed before.
 *
 * @inline
 */
type RuleErrorReason = 'act' | 'timeout' | 'command' | 'pruned';

/**
 * The error of a rule for one contract. Nothing was submitted.
 *
 * @category Errors
 */
export class RuleError extends TaggedError<'RuleError'> {
  constructor(
    /** The kind of the error. */
    readonly reason: RuleErrorReason,
    /** The name of the rule. */
    readonly rule: string,
    /** The contract. */
    readonly contractId: string,
    /** A human-readable description. */
    readonly explanation: string,
    /** What the rule threw, if it did. */
    cause?: unknown,
  ) {
    const details = { Reason: reason, Rule: rule, Contract: contractId };
    super('RuleError', `The rule did not act: ${explanation}.`, details, { cause });
  }

  override get summary(): string {
    return 'An automatic step could not be done.';
  }
}

/**
 * Whether a value is a {@link RuleError}.
 *
 * @category Errors
 */
export const isRuleError = (u: unknown): u is RuleError => hasTag(u, 'RuleError');
