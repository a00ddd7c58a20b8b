import { checkPositive } from '../http/checkPositive.js';
import { retryPolicy } from '../http/RetryPolicy.js';
import type { UpdatesOptions } from './UpdatesOptions.js';

const mostRanges = 32;

/** Throws a TypeError for options that make no sense: a mistake in the program, not of the ledger. */
export function checkOptions(options: UpdatesOptions): void {
  const { maxPageSize = 1, idleTimeoutMs = 1, parallelRanges = 1, transport = 'http', retry } = options;
  checkPositive({ maxPageSize, idleTimeoutMs, parallelRanges }, true);
  // what has been answered while the first was waited for is emitted at one go, and nests
  if (parallelRanges > mostRanges) throw new TypeError(`parallelRanges must be ${mostRanges} at most`);
  if (!['http', 'websocket'].includes(transport)) throw new TypeError('transport must be http or websocket');
  retryPolicy(retry);
}
