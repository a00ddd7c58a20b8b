import type * as t from 'io-ts';
import { list, withDefault } from './internal/field.js';
import { exact } from './internal/message.js';
import { Offset, type Opt, Party, UserId } from './scalars.js';

/**
 * A request for the completions of commands, in wire format.
 *
 * @example
 * ```ts
 * import type { CompletionsRequest } from 'canton-rx';
 *
 * const request: CompletionsRequest = { parties: ['alice::1220ab'], userId: 'app', beginExclusive: 0 };
 * ```
 * @category Requests
 */
export interface CompletionsRequest {
  /** At least one party. A completion is selected if one of them is in the `actAs` of its command. */
  readonly parties: readonly [Party, ...Party[]];
  /**
   * The user that submitted. Default: the user of the token. If the participant serves only
   * `/v2/commands/command-completions`, the default is all users. Then name the user. A participant without
   * authentication requires it.
   */
  readonly userId?: Opt<UserId>;
  /** The offset after which the completions start; 0 is the beginning of the ledger. Not before the pruned offset. */
  readonly beginExclusive: Offset;
}

/**
 * Codec of `CompletionsRequest`.
 *
 * @category Requests
 */
export const CompletionsRequest: t.Type<CompletionsRequest, unknown> = exact<CompletionsRequest>('CompletionsRequest', {
  parties: list(Party, 1, Infinity, 'at least one party') as unknown as t.Type<CompletionsRequest['parties'], unknown>,
  userId: withDefault(UserId, ''),
  beginExclusive: Offset,
});
