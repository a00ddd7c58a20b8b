import { catchError, map, type Observable, type ObservableInput, of } from 'rxjs';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import { type Action, decisionOf } from '../../dispatch/decision.js';
import { isUndecided, validateForOutbox } from './requests.js';
import type { OutboxRow } from './OutboxRows.js';
import { type Outcome, storedText } from './outcome.js';

/**
 * A function that decides what a command of an outbox does, right before it is sent. After an error, it is called again after a
 * delay. What it returns without commands, or `undefined`, drops the command.
 *
 * It is called again only if nothing of an earlier attempt can be committed any more.
 *
 * @category Outbox
 */
export type Decide = (
  argument: unknown,
  context: DecideContext,
) => Action | undefined | ObservableInput<Action | undefined>;

/**
 * What a {@link Decide} function gets in addition to its argument.
 *
 * @category Outbox
 */
export interface DecideContext {
  /** The command id. */
  readonly commandId: string;
  /** The key, if the command has one. */
  readonly key?: string;
  /** The number of failures in a row before this decision, and one more: it is 1 for the first. */
  readonly attempt: number;
}

/** The functions that decide, by name. */
export interface Deciding {
  readonly decide: Readonly<Record<string, Decide>>;
  readonly decideTimeoutMs: number;
}

/** A command to send, or an outcome without one. */
type Decided = { readonly row: OutboxRow<CommandsRequest> } | { readonly outcome: Outcome };

/** Why a command is not sent. Nothing of it is committed. */
const undecided = (state: 'pending' | 'parked', cause: unknown): Decided => ({
  outcome: { state, mayBeCommitted: false, reason: 'decide', cause, error: storedText(cause) },
});

/** Decides what a command does, if that is not decided. Emits once, and never fails. */
export function decideRow({ decide, decideTimeoutMs }: Deciding, row: OutboxRow): Observable<Decided> {
  const { request, commandId, key, failures } = row;
  if (!isUndecided(request)) return of({ row: { ...row, request } });
  const { decide: name, argument, actAs, userId } = request;
  const fn = Object.hasOwn(decide, name) ? decide[name] : undefined;
  if (fn === undefined)
    return of(undecided('parked', new Error(`submitAll has no function "${name}" in its option decide`)));
  const context = { commandId, ...(key !== undefined && { key }), attempt: failures + 1 };
  const fault = (_: unknown, explanation: string): Error => new Error(`the function "${name}" ${explanation}`);
  return decisionOf(() => fn(argument, context), decideTimeoutMs, fault).pipe(
    map((decided): Decided => {
      if (decided === undefined) return { outcome: { state: 'dropped', mayBeCommitted: false, reason: 'decide' } };
      return { row: { ...row, request: validateForOutbox<CommandsRequest>({ ...decided, actAs, userId }) } };
    }),
    catchError((error: unknown) => of(undecided('pending', error))),
  );
}
