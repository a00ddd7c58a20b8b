/** The injection token of the pool: `@Inject(POOL) pool: Pool`. */
export const POOL = Symbol('POOL');
