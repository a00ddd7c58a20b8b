import { hasTag, quotable, TaggedError } from '../errors/internal/message.js';

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
    super(
      'RuleError',
      `The rule did not act: ${explanation}.`,
      { Reason: reason, Rule: rule, Contract: contractId },
      {
        cause,
      },
    );
  }
}

/**
 * Whether a value is a {@link RuleError}.
 *
 * @category Errors
 */
export const isRuleError = (u: unknown): u is RuleError => hasTag(u, 'RuleError');

/** Returns the error for what a function of a rule threw. */
export const thrownError = (rule: string, contractId: string, thrown: unknown): RuleError => {
  const said = thrown instanceof Error ? quotable(thrown.message, []) : 'no Error was thrown';
  return new RuleError('act', rule, contractId, `it failed: ${said}`, thrown);
};

/** Returns the error for an action that the participant may have forgotten. */
export const prunedError = (rule: string, contractId: string, earliest: number): RuleError =>
  new RuleError(
    'pruned',
    rule,
    contractId,
    `the contract is older than offset ${earliest}, before which the participant is pruned, so that an earlier run may have acted on it. Give the rule done or a store, or set consumes if its actions archive the contract`,
  );
