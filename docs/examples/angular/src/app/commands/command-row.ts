import type { Completion } from 'canton-rx';

/** What an automation submitted, as its command id says. */
interface RuleAction {
  readonly rule: string;
  readonly contractId: string;
  /** The occasion, such as a month; empty if the rule has one occasion only. */
  readonly round: string;
}

/** A command of a party and its outcome. */
export interface CommandRow {
  readonly completion: Completion;
  /** Absent if the command id is not that of an automation. */
  readonly action?: RuleAction;
  /** The number of this attempt among those that were read, from 1. */
  readonly attempt: number;
}

/**
 * `RULE:CONTRACT` or `RULE:CONTRACT:ROUND`, as `canton-rx/automation` forms the command ids. A contract id has at least a
 * version and twelve bytes, in hexadecimal digits. Another program can form such ids, too: they are a name, not a proof.
 */
const actionId = /^([\w-]{1,60}):((?:[0-9a-f]{2}){13,})(?::(.*))?$/;

function ruleActionOf(commandId: string): RuleAction | undefined {
  const [, rule, contractId, round = ''] = actionId.exec(commandId) ?? [];
  return rule === undefined || contractId === undefined ? undefined : { rule, contractId, round };
}

/** The rows of completions, the newest first. */
export function rowsOf(completions: readonly Completion[]): readonly CommandRow[] {
  const attempts = new Map<string, number>();
  return completions
    .toReversed()
    .map((completion) => {
      const { userId, actAs, commandId, outcome } = completion;
      const change = JSON.stringify([userId, actAs.toSorted(), commandId]);
      const before = attempts.get(change) ?? 0;
      // a reassignment precedes the transaction of the same attempt
      if (outcome !== 'reassigned') attempts.set(change, before + 1);
      const action = ruleActionOf(commandId);
      return { completion, attempt: before + 1, ...(action && { action }) };
    })
    .reverse();
}
