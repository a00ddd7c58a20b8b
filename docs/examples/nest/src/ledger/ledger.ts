/** The injection token of the ledger: `@Inject(LEDGER) ledger: Ledger`. */
export const LEDGER = Symbol('LEDGER');
