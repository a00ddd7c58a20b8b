import type { UpdatesOptions } from './UpdatesOptions.js';

/** Throws a TypeError for options that make no sense: a mistake in the program, not of the ledger. */
export function checkOptions({ maxPageSize = 1, idleTimeoutMs = 1 }: UpdatesOptions): void {
  if (!Number.isSafeInteger(maxPageSize) || maxPageSize < 1)
    throw new TypeError('maxPageSize is a whole number from 1');
  if (!Number.isSafeInteger(idleTimeoutMs) || idleTimeoutMs < 1)
    throw new TypeError('idleTimeoutMs is a whole number from 1');
}
