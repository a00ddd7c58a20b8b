/** What a request may leave out, or write as the `null` that the ledger's own examples have. */
export type Opt<A> = A | null | undefined;
