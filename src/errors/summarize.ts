import type { LedgerError } from './LedgerError.js';

/**
 * Returns the sentence of an error for the person at a screen, in the words of the app, for example in another language. An
 * error without a sentence of the app has its own, `summary`.
 *
 * @example
 * ```ts
 * import { isLedgerError, summarize } from 'canton-rx';
 *
 * const words = {
 *   PrunedError: 'Der Verlauf ist nicht mehr verfügbar.',
 *   SubmissionRejectedError: ({ isContention }: { readonly isContention: boolean }) =>
 *     isContention ? 'Bitte noch einmal versuchen.' : 'Das ist nicht möglich.',
 * };
 * const sentenceOf = (error: unknown): string =>
 *   isLedgerError(error) ? summarize(error, words) : 'Etwas ist schiefgegangen.';
 * ```
 * @category Errors
 */
export function summarize(error: LedgerError, summaries: Summaries): string {
  // the compiler cannot relate the sentence to the error
  const own = summaries[error._tag] as string | ((error: LedgerError) => string) | undefined;
  return typeof own === 'function' ? own(error) : (own ?? error.summary);
}

/**
 * The sentences of an app, by `_tag`: each a text, or a function of the error.
 *
 * @inline
 */
type Summaries = {
  readonly [T in LedgerError['_tag']]?: string | ((error: Extract<LedgerError, { readonly _tag: T }>) => string);
};
