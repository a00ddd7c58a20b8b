import type { Completion } from '../Completion.js';
import type { Party } from '../scalars.js';

/**
 * Returns a submission id with the number of the parties that act. A completion shows only those parties that its reader names,
 * so that the completion of more parties looks the same.
 *
 * @param unique - makes the id unique
 */
export const submissionIdOf = (actAs: readonly Party[], unique: string): string =>
  `canton-rx/${new Set(actAs).size}/${unique}`;

/**
 * Returns whether as many parties act as in a completion. Returns `undefined` if the completion does not show it, because its
 * submission id was made by another program.
 */
export function hasPartiesOf({ submissionId = '' }: Completion, actAs: readonly Party[]): boolean | undefined {
  const count = /^canton-rx\/(\d+)\//.exec(submissionId)?.[1];
  return count === undefined ? undefined : Number(count) === new Set(actAs).size;
}
