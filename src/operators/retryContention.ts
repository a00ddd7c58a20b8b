import { type MonoTypeOperatorFunction, retry, throwError, timer } from 'rxjs';
import { checkPositive } from '../codecs/internal/numbers.js';
import { isLedgerError } from '../errors/LedgerError.js';

/**
 * Options of {@link retryContention}.
 *
 * @inline
 */
interface RetryContentionOptions {
  /**
   * The maximum number of subscriptions.
   *
   * @defaultValue 5
   */
  readonly maxAttempts?: number;
  /**
   * The longest delay before the second attempt, in milliseconds. It doubles with every further attempt, and the delay is a
   * random part of it, so that the submitters that compete do not all return at the same time.
   *
   * @defaultValue 100
   */
  readonly baseDelayMs?: number;
}

/** The longest delay before any attempt, in milliseconds: after that, the contracts are used all the time. */
const maxDelayMs = 5_000;

/**
 * Subscribes to the source again if the ledger refused a submission because of contention: a contract was locked, archived or
 * not found, since another transaction used it. Every other error, and the last refusal, is passed on.
 *
 * The source must read the contracts and build the commands at each subscription, because the same commands would fail again.
 * Begin it with `defer`, or with a view of the contracts.
 *
 * @throws TypeError if an option is not a positive number
 * @example
 * ```ts
 * import { contractType, createLedger, exercise, retryContention } from 'canton-rx';
 * import { liveContracts } from 'canton-rx/contracts';
 * import { concatMap, first } from 'rxjs';
 * import * as t from 'io-ts';
 *
 * const Task = contractType('#todo:Todo:Task', t.type({ owner: t.string, done: t.boolean }), {
 *   choices: { Complete: { argument: t.type({}) } },
 * });
 * const alice = 'alice::1220ab';
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const tasks = liveContracts(ledger, { types: { Task }, parties: [alice] });
 *
 * tasks
 *   .select$(({ payload }) => payload?.done === false)
 *   .pipe(
 *     first(([task]) => task !== undefined),
 *     concatMap(([task]) =>
 *       ledger.submitAndWaitForTransaction({
 *         actAs: [alice],
 *         commands: [exercise(Task.Complete, task?.contractId ?? '', {})],
 *       }),
 *     ),
 *     retryContention(),
 *   );
 * ```
 * @category Operators
 */
export function retryContention<A>({
  maxAttempts = 5,
  baseDelayMs = 100,
}: RetryContentionOptions = {}): MonoTypeOperatorFunction<A> {
  checkPositive({ maxAttempts }, true);
  checkPositive({ baseDelayMs });
  return retry({
    count: maxAttempts - 1,
    delay: (error: unknown, failures) =>
      isLedgerError(error, 'SubmissionRejectedError') && error.isContention
        ? timer(Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** (failures - 1)))
        : throwError(() => error),
  });
}
