import type * as t from 'io-ts';
import { json, list, nonEmpty, nullable } from '../../codecs/internal/field.js';
import { exact } from '../../codecs/internal/message.js';
import { LedgerString, Party, UserId } from '../../codecs/scalars.js';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import { InvalidRequestError } from '../../errors/request.js';
import { validateRequest } from '../../client/exchange.js';
import { validateCommands } from '../../submission/submitCommands.js';

/**
 * A command whose content is decided when it is sent, for {@link CommandOutbox.enqueue}: by a function that `submitAll` gets.
 *
 * @category Outbox
 */
export interface DecideRequest extends Pick<CommandsRequest, 'actAs' | 'commandId' | 'userId'> {
  /** The name of the function, in the option `decide` of `submitAll`. */
  readonly decide: string;
  /** The argument of the function, as JSON. Default: none. */
  readonly argument?: unknown;
}

/** Codec of `DecideRequest`. */
const DecideRequest: t.Type<DecideRequest, unknown> = exact<DecideRequest>('DecideRequest', {
  decide: nonEmpty,
  argument: nullable(json),
  actAs: list(Party, 1, Infinity, 'at least one party') as unknown as t.Type<CommandsRequest['actAs'], unknown>,
  commandId: nullable(LedgerString),
  userId: nullable(UserId),
});

/** Whether the content of a command is not decided. */
export const isUndecided = (request: CommandsRequest | DecideRequest): request is DecideRequest => 'decide' in request;

/**
 * Validates a request for an outbox. Throws an {@link InvalidRequestError} if the ledger would refuse it, or if it could not be
 * repeated safely.
 */
export function validateForOutbox<R extends CommandsRequest | DecideRequest>(request: R): R;
export function validateForOutbox(request: CommandsRequest | DecideRequest): CommandsRequest | DecideRequest {
  // JavaScript may pass anything
  if (isUndecided(Object(request) as typeof request)) return validateRequest(DecideRequest, request);
  const validated = validateCommands(request as CommandsRequest, undefined);
  // a duration would be measured from each attempt
  if (validated.deduplicationPeriod != null && 'DeduplicationDuration' in validated.deduplicationPeriod)
    throw new InvalidRequestError([
      { path: 'deduplicationPeriod', expected: 'a DeduplicationOffset, which is extended' },
    ]);
  return validated;
}
