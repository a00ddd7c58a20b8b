/** The token by which a ledger is injected: `@Inject(LEDGER) ledger: Ledger`. */
export const LEDGER = Symbol('LEDGER');
