import { catchError, concatAll, defer, EMPTY, map, type Observable, type ObservableInput, of, takeUntil } from 'rxjs';
import { LedgerString } from '../codecs/scalars.js';
import type { Contract } from '../contracts/Contract.js';
import { decisionOf } from '../dispatch/decision.js';
import type { Place } from '../dispatch/Places.js';
import { quotable } from '../errors/internal/message.js';
import { textOf } from '../errors/textOf.js';
import type { Entry, Submission } from './Entry.js';
import { type Acted, type ActionContext, type Rule, RuleError } from './Rule.js';
import { fail, type RuleRun, submit } from './submit.js';

/** Calls the rule for a contract, and submits what it decides: at once, or when there is a place. */
export function decide(run: RuleRun, entry: Entry, place: Place): Observable<Acted> {
  const { rule, agenda, memory, actTimeoutMs } = run;
  const { contract, failures, races } = entry;
  const { contracts, offset } = agenda;
  if (contracts === undefined) return EMPTY;
  const follow = ({ round, request }: RoundDecision): Observable<Acted> => {
    if (entry.isGone) return EMPTY;
    if (entry.contract !== contract) {
      agenda.reconsider(entry);
      return EMPTY;
    }
    const isCommitted = request !== undefined && memory.has(request.commandId);
    if (isCommitted) entry.endedRounds.add(round);
    if (request === undefined || isCommitted) {
      agenda.rest(entry, round, contracts);
      return EMPTY;
    }
    entry.submission = { round, request, decidedAt: offset };
    if (place.keep()) return submit(run, entry, entry.submission);
    agenda.ready(entry);
    return EMPTY;
  };
  const attempt = failures + races + 1;
  const decision$ = defer(() =>
    agenda.confirm(entry) ? decideRound(rule, contract, { contracts, attempt }, actTimeoutMs) : [],
  ).pipe(
    map(follow),
    catchError((error: unknown) => (entry.isGone ? [] : [of(fail(run, entry, explain(rule, contract, error)))])),
    takeUntil(run.stop.stop$),
  );
  // a stop ends the decision, and not what is submitted
  return decision$.pipe(concatAll());
}

/** What a rule wants to do with a contract: a request, or nothing until the contracts change. */
interface RoundDecision {
  readonly round: string;
  readonly request: Submission['request'] | undefined;
}

/** Calls the functions of a rule for a contract. Throws, or fails with, whatever they throw. */
function decideRound(
  rule: Rule,
  contract: Contract,
  context: ActionContext,
  actTimeoutMs: number,
): ObservableInput<RoundDecision> {
  const { contractId } = contract;
  const round = rule.round?.(contract) ?? '';
  if (rule.done?.(contract, context.contracts) ?? false) return [{ round, request: undefined }];
  const [first = '', ...others] = rule.actAs;
  // the ledger recognizes a repetition by user, parties and command id, so that they must not depend on the decision
  const fixed = {
    userId: rule.userId,
    actAs: [first, ...others],
    commandId: commandIdOf(rule, contractId, round),
  } as const;
  return decisionOf(
    () => rule.act(contract, context),
    actTimeoutMs,
    (reason, explanation) => new RuleError(reason, rule.name, contractId, `act ${explanation}`),
  ).pipe(map((request) => ({ round, request: request && { ...request, ...fixed } })));
}

/** Returns the error for what a function of a rule threw. */
function explain({ name }: Rule, { contractId }: Contract, thrown: unknown): RuleError {
  if (thrown instanceof RuleError) return thrown;
  const said = thrown instanceof Error ? quotable(textOf(thrown), []) : 'no Error was thrown';
  return new RuleError('act', name, contractId, `it failed: ${said}`, thrown);
}

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
