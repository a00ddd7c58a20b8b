import {
  catchError,
  defer,
  EMPTY,
  from,
  ignoreElements,
  isObservable,
  map,
  type Observable,
  type ObservableInput,
  of,
  take,
  takeUntil,
  tap,
  throwIfEmpty,
  timeout,
} from 'rxjs';
import type { Command } from '../codecs/Command.js';
import { LedgerString } from '../codecs/scalars.js';
import type { Contract } from '../contracts/Contract.js';
import { quotable } from '../errors/internal/message.js';
import { clampTimer } from '../http/retry.js';
import type { Entry, Submission } from './Entry.js';
import { type Acted, type Action, type ActionContext, type Rule, RuleError } from './Rule.js';
import { fail, type RuleRun } from './submit.js';

/** Calls the rule for a contract, and notes for the agenda what to submit. Emits only a failure. */
export function decide(run: RuleRun, entry: Entry): Observable<Acted> {
  const { rule, agenda, memory, actTimeoutMs } = run;
  const { contract, failures, races } = entry;
  const { contracts, offset } = agenda;
  if (contracts === undefined) return EMPTY;
  const note = ({ round, request }: Decision): void => {
    if (entry.isGone) return;
    if (entry.contract !== contract) {
      agenda.reconsider(entry);
      return;
    }
    const isCommitted = request !== undefined && memory.has(request.commandId);
    if (isCommitted) entry.endedRounds.add(round);
    if (request === undefined || isCommitted) {
      agenda.rest(entry, round, contracts);
      return;
    }
    entry.submission = { round, request, decidedAt: offset };
    agenda.ready(entry);
  };
  const attempt = failures + races + 1;
  return defer(() =>
    agenda.confirm(entry) ? decisionOf(rule, contract, { contracts, attempt }, actTimeoutMs) : [],
  ).pipe(
    tap(note),
    ignoreElements(),
    catchError((error: unknown) => (entry.isGone ? [] : [fail(run, entry, explain(rule, contract, error))])),
    takeUntil(run.stop.stop$),
  );
}

/** What a rule wants to do with a contract: a request, or nothing until the contracts change. */
interface Decision {
  readonly round: string;
  readonly request: Submission['request'] | undefined;
}

/** Calls the functions of a rule for a contract. Throws, or fails with, whatever they throw. */
function decisionOf(
  rule: Rule,
  contract: Contract,
  context: ActionContext,
  actTimeoutMs: number,
): ObservableInput<Decision> {
  const { contractId } = contract;
  const round = rule.round?.(contract) ?? '';
  if (rule.done?.(contract, context.contracts) ?? false) return [{ round, request: undefined }];
  const commandId = commandIdOf(rule, contractId, round);
  const result = rule.act(contract, context);
  const action$ = isInput(result)
    ? from(result).pipe(
        take(1),
        timeout({
          first: clampTimer(actTimeoutMs),
          with: () => {
            throw new RuleError('timeout', rule.name, contractId, `act did not answer within ${actTimeoutMs} ms`);
          },
        }),
        throwIfEmpty(() => invalid(rule, contractId, 'act completed without a value')),
      )
    : of(result);
  return action$.pipe(map((action) => ({ round, request: requestOf(rule, contractId, commandId, action) })));
}

/** Returns the error for what a function of a rule threw. */
function explain({ name }: Rule, { contractId }: Contract, thrown: unknown): RuleError {
  if (thrown instanceof RuleError) return thrown;
  const said = thrown instanceof Error ? quotable(thrown.message, []) : 'no Error was thrown';
  return new RuleError('act', name, contractId, `it failed: ${said}`, thrown);
}

/** Returns the error for an action that is not what its type says. */
const invalid = ({ name }: Rule, contractId: string, explanation: string): RuleError =>
  new RuleError('act', name, contractId, explanation);

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
    'its command id has more than 255 characters, or others than A-Z a-z 0-9 # : . - _ / and space; choose another round',
  );
}

function requestOf(rule: Rule, contractId: string, commandId: string, action: Action | undefined): Decision['request'] {
  if (action === undefined) return undefined;
  // JavaScript callers may return anything
  if (Object(action) !== action) throw invalid(rule, contractId, 'act returned neither a command nor a request');
  const request = 'commands' in action ? action : { commands: [action].flat() as readonly Command[] };
  if (request.commands.length === 0) return undefined;
  const [first = '', ...others] = rule.actAs;
  // the ledger recognizes a repetition by user, parties and command id, so that they must not depend on the decision
  return { ...request, userId: rule.userId, actAs: [first, ...others], commandId };
}

/** Whether a value is an Observable, a Promise or an iterable that is not a list of commands. */
const isInput = (
  u: Action | undefined | ObservableInput<Action | undefined>,
): u is ObservableInput<Action | undefined> =>
  isObservable(u) ||
  (typeof u === 'object' && ('then' in u || Symbol.asyncIterator in u || (Symbol.iterator in u && !Array.isArray(u))));
