import { filter, type OperatorFunction } from 'rxjs';
import type { Completion, CompletionResponse } from '../codecs/Completion.js';
import type { Party } from '../codecs/scalars.js';

/**
 * Identifies a change: the participant commits it once.
 *
 * @inline
 */
interface ChangeId {
  /** The command id. */
  readonly commandId: string;
  /** The user that submitted. Default: any user. */
  readonly userId?: string | undefined;
  /** The parties that act. Neither their order nor repetition has a meaning. */
  readonly actAs: readonly Party[];
}

/**
 * Options of `ofChange`.
 *
 * @inline
 */
interface ChangeOptions {
  /**
   * The parties of the request, if it lacks parties that act: a completion has only those parties of `actAs` that the
   * request names. Default: the request names all parties that act.
   */
  readonly parties?: readonly Party[] | undefined;
}

/**
 * Emits only the completions of a change: of all its attempts, in order. There can be any number of rejections, and one
 * transaction.
 *
 * Committed reassignments are left out: an automatic one has the command id of the transaction that needs it, and that
 * transaction is still open.
 *
 * @example
 * ```ts
 * import { from } from 'rxjs';
 * import { type CompletionResponse, ofChange } from 'canton-rx';
 *
 * const completions: CompletionResponse[] = [];
 * from(completions)
 *   .pipe(ofChange({ commandId: 'order-7', actAs: ['alice::1220ab', 'bob::1220cd'] }))
 *   .subscribe(({ outcome }) => {
 *     console.log(outcome);
 *   });
 * ```
 * @category Operators
 */
export function ofChange(
  { commandId, userId, actAs }: ChangeId,
  { parties = actAs }: ChangeOptions = {},
): OperatorFunction<CompletionResponse, Completion> {
  const expected = new Set(actAs.filter((party) => parties.includes(party)));
  const hasParties = (found: readonly Party[]): boolean =>
    new Set(found).size === expected.size && found.every((party) => expected.has(party));
  return filter(
    (element): element is Completion =>
      element._tag === 'Completion' &&
      element.commandId === commandId &&
      (userId === undefined || element.userId === userId) &&
      element.outcome !== 'reassigned' &&
      hasParties(element.actAs),
  );
}
