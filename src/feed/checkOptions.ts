import type { UpdatesOptions } from './UpdatesOptions.js';

/** Throws a TypeError for options that make no sense: a mistake in the program, not of the ledger. */
export function checkOptions({ maxPageSize = 1, idleTimeoutMs = 1 }: UpdatesOptions): void {
  for (const [name, value] of Object.entries({ maxPageSize, idleTimeoutMs }))
    if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`${name} is not a whole number from 1`);
}
