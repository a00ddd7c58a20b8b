import { checkPositive } from '../http/checkPositive.js';
import { retryPolicy } from '../http/RetryPolicy.js';
import type { UpdatesOptions } from './UpdatesOptions.js';

/** Throws a TypeError for options that make no sense: a mistake in the program, not of the ledger. */
export function checkOptions({ maxPageSize = 1, idleTimeoutMs = 1, parallelRanges = 1, retry }: UpdatesOptions): void {
  checkPositive({ maxPageSize, idleTimeoutMs, parallelRanges }, true);
  retryPolicy(retry);
}
