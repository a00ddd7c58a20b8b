import type { Account } from './Account.js';

/** How the reading came to its end: at the end of the range, by a signal, or by an error of the ledger or the disk. */
export type Ending =
  { readonly kind: 'done' } | { readonly kind: 'interrupted' } | { readonly kind: 'failed'; readonly error: unknown };

/** How the file was left. */
export type Ended = Exclude<Ending, { kind: 'done' }> | { readonly kind: 'complete'; readonly account: Account };
