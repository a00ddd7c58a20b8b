import {
  defer,
  from,
  isObservable,
  map,
  type Observable,
  type ObservableInput,
  of,
  take,
  throwIfEmpty,
  timeout,
} from 'rxjs';
import type { Command } from '../codecs/Command.js';
import type { CommandsRequest } from '../codecs/SubmissionRequest.js';
import { clampTimer } from '../http/retry.js';

/**
 * What a function decides to submit: a command, several commands as one transaction, or a request with further fields. The
 * library adds the user, the parties, the command id and the deduplication period.
 *
 * @category Automation
 */
export type Action = Command | readonly Command[] | (DecidedRequest & Readonly<Partial<Record<FixedField, never>>>);

/**
 * The fields of a request by which the ledger recognizes a repetition. They must not depend on the decision.
 *
 * @inline
 */
type FixedField = 'userId' | 'actAs' | 'commandId' | 'deduplicationPeriod';

/**
 * The fields of a request that a function may decide.
 *
 * @inline
 */
type DecidedRequest = Omit<CommandsRequest, FixedField>;

/**
 * What a function that decides returns: only the first value of an Observable counts. Without commands, or `undefined`, there is
 * nothing to do.
 *
 * @inline
 */
export type Decision = Action | undefined | ObservableInput<Action | undefined>;

/** Creates the error for a function that does not answer in time, or that returns something else than its type says. */
type Fault = (reason: 'timeout' | 'act', explanation: string) => Error;

/** Calls a function that decides, and emits what to submit, once; `undefined` if there is nothing to do. */
export const decisionOf = (
  call: () => Decision,
  timeoutMs: number,
  fault: Fault,
): Observable<DecidedRequest | undefined> =>
  defer(() => {
    const result = call();
    if (!isInput(result)) return of(result);
    const late = (): never => {
      throw fault('timeout', `did not answer within ${timeoutMs} ms`);
    };
    return from(result).pipe(
      take(1),
      timeout({ first: clampTimer(timeoutMs), with: late }),
      throwIfEmpty(() => fault('act', 'completed without a value')),
    );
  }).pipe(map((action) => requestOf(action, fault)));

function requestOf(action: Action | undefined, fault: Fault): DecidedRequest | undefined {
  if (action === undefined) return undefined;
  // JavaScript callers may return anything
  if (Object(action) !== action) throw fault('act', 'returned neither a command nor a request');
  const request = 'commands' in action ? action : { commands: [action].flat() as readonly Command[] };
  return request.commands.length === 0 ? undefined : request;
}

/** Whether a value is an Observable, a Promise or an iterable that is not a list of commands. */
const isInput = (u: Decision): u is ObservableInput<Action | undefined> =>
  isObservable(u) ||
  (typeof u === 'object' && ('then' in u || Symbol.asyncIterator in u || (Symbol.iterator in u && !Array.isArray(u))));
