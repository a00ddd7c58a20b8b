/** How a tail came to its end: at `--to`, by a signal, because nobody reads any more, or by an error. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'unwritable'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };
