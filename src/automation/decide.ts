import { from, isObservable, map, type Observable, type ObservableInput, take, throwIfEmpty, timeout } from 'rxjs';
import type { Command } from '../codecs/Command.js';
import { LedgerString } from '../codecs/scalars.js';
import type { Contract } from '../contracts/Contract.js';
import { clampTimer, mapError } from '../http/retry.js';
import { type Action, type ActionContext, type ActionRequest, type Rule, RuleError, thrownError } from './Rule.js';

/** What a rule wants to do with a contract: a request, or nothing. */
export interface Decision {
  readonly round: string;
  /** `undefined` if there is nothing to do until the contracts change. */
  readonly request: Omit<ActionRequest, 'deduplicationPeriod'> | undefined;
}

/**
 * Calls the functions of a rule for a contract. Returns the decision, or an Observable of it if `act` does not decide at once.
 * Throws a {@link RuleError} for whatever the rule throws.
 */
export function decide(
  rule: Rule,
  contract: Contract,
  { contracts, attempt }: ActionContext,
  actTimeoutMs: number,
): Decision | Observable<Decision> {
  const { name } = rule;
  const { contractId } = contract;
  const invalid = (explanation: string): RuleError => new RuleError('act', name, contractId, explanation);
  try {
    const round = rule.round?.(contract) ?? '';
    if (rule.done?.(contract, contracts) ?? false) return { round, request: undefined };
    const commandId = commandIdOf(rule, contractId, round);
    const toDecision = (action: Action | undefined): Decision => ({
      round,
      request: requestOf(rule, commandId, action, invalid),
    });
    const result = rule.act(contract, { contracts, attempt });
    if (!isInput(result)) return toDecision(result);
    return from(result).pipe(
      take(1),
      timeout({
        first: clampTimer(actTimeoutMs),
        with: () => {
          throw new RuleError('timeout', name, contractId, `act did not answer within ${actTimeoutMs} ms`);
        },
      }),
      throwIfEmpty(() => invalid('act completed without a value')),
      map(toDecision),
      mapError((error) => explain(rule, contract, error)),
    );
  } catch (error) {
    throw explain(rule, contract, error);
  }
}

/** Returns the error for what a function of a rule threw. */
export const explain = ({ name }: Rule, { contractId }: Contract, error: unknown): unknown =>
  error instanceof RuleError ? error : thrownError(name, contractId, error);

/**
 * The command id of an action. The ledger commits it once, so it is the same in every process and after every restart. A name
 * has no colon and a contract id neither, so that different actions have different ids.
 */
function commandIdOf({ name }: Rule, contractId: string, round: string): string {
  const commandId = [name, contractId, ...(round === '' ? [] : [round])].join(':');
  if (LedgerString.is(commandId)) return commandId;
  throw new RuleError(
    'command',
    name,
    contractId,
    'its command id has more than 255 characters, or others than A-Z a-z 0-9 # : - _ / and space; choose another round',
  );
}

function requestOf(
  { actAs, userId }: Rule,
  commandId: string,
  action: Action | undefined,
  invalid: (explanation: string) => RuleError,
): Decision['request'] {
  if (action === undefined) return undefined;
  // JavaScript callers may return anything
  if (Object(action) !== action) throw invalid('act returned neither a command nor a request');
  const request = 'commands' in action ? action : { commands: [action].flat() as readonly Command[] };
  if (request.commands.length === 0) return undefined;
  const [first = '', ...others] = actAs;
  // the ledger recognizes a repetition by user, parties and command id, so that they must not depend on the decision
  return { ...request, userId, actAs: [first, ...others], commandId };
}

/** Whether a value is an Observable, a Promise or an iterable that is not a list of commands. */
const isInput = (
  u: Action | undefined | ObservableInput<Action | undefined>,
): u is ObservableInput<Action | undefined> =>
  isObservable(u) ||
  (typeof u === 'object' && ('then' in u || Symbol.asyncIterator in u || (Symbol.iterator in u && !Array.isArray(u))));
