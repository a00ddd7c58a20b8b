import { defer, filter, finalize, type Observable, switchMap, tap } from 'rxjs';
import { Places } from '../../dispatch/Places.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import { isTransient } from '../../errors/verdict.js';
import { reportOf } from '../../client/Client.js';
import { checkNotNegative, checkPositive } from '../../codecs/internal/numbers.js';
import { mapError, type RetryPolicy, retryPolicy, retryTransient } from '../../http/retry.js';
import { clientOf } from '../../ledger/clientOf.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { asStoreError, storeRetryPolicy } from '../../process/heldStore.js';
import { whileHeld } from '../../process/whileHeld.js';
import { endAtStop, Stopper } from '../../process/Stop.js';
import { withStatus } from '../../process/withStatus.js';
import { recoveryTimeMs } from '../../submission/execute.js';
import type { CommandsOptions } from '../../submission/submitCommands.js';
import { maxPeriodMs } from '../connection.js';
import { asStoreError as asDatabaseError } from '../databaseErrors.js';
import { holdLease, type Lease } from '../Lease.js';
import { outboxPrefix } from '../postgresStore.js';
import { tablesIn } from '../storeTables.js';
import type { Decide } from './decide.js';
import type { Submitted } from './outcome.js';
import { OutboxRows } from './OutboxRows.js';
import { outboxTablesIn } from './tables.js';
import { type OutboxPlace, type OwnState, statusReader, type Submissions } from './OutboxStatus.js';
import { sendCommands } from './sendCommands.js';

/**
 * Options of {@link CommandOutbox.submitAll}.
 *
 * @category Outbox
 */
export interface SubmitAllOptions {
  /**
   * The maximum number of commands that are sent at the same time. Those with the same key are never sent at the same time.
   *
   * @defaultValue 4
   */
  readonly concurrency?: number | undefined;
  /**
   * The delays before a command that failed is sent again, and the pauses while the participant is overloaded. `giveUpAfterMs`
   * limits only the retries of the database.
   *
   * @defaultValue from 1000 ms, doubling up to 60000 ms
   */
  readonly retry?: RetryPolicy | undefined;
  /**
   * How often to look for new commands, and how often a standby tries to take over, in milliseconds.
   *
   * @defaultValue 1000
   */
  readonly pollMs?: number | undefined;
  /** Stops the outbox: it begins nothing, and completes when the commands that are being sent have an outcome. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait after a stop for the commands that are being sent, in milliseconds. Another process, or the next start,
   * determines the outcome of those that remain.
   *
   * @defaultValue 10000
   */
  readonly stopWithinMs?: number | undefined;
  /**
   * How long committed and dropped commands are kept, in milliseconds. Only during that time, a command id is not enqueued again.
   * An attempt looks back to half of it before its command was enqueued, and to 36 hours at most, for what a restored database has
   * forgotten. Not if it is less than a day.
   *
   * @defaultValue 30 days
   */
  readonly keepMs?: number | undefined;
  /**
   * How long to determine an outcome before the command is reported as `Unknown` and continued later, as for
   * `ledger.submitAndWaitForTransaction`.
   *
   * @defaultValue within 240000 ms
   */
  readonly recover?: CommandsOptions['recover'] | undefined;
  /**
   * The functions that decide the commands which were enqueued with `decide`, by name. A command with another name is parked.
   *
   * @defaultValue none
   */
  readonly decide?: Readonly<Record<string, Decide>> | undefined;
  /**
   * How long a function of `decide` may take, in milliseconds.
   *
   * @defaultValue 30000
   */
  readonly decideTimeoutMs?: number | undefined;
}

/** How long the retention is by default, in milliseconds. */
const thirtyDaysMs = 30 * 24 * 3_600_000;

/** Sends the commands of an outbox while this process holds its name. If the database fails, begins again. */
export function submitAll(place: OutboxPlace, ledger: Ledger, options: SubmitAllOptions): Submissions {
  const { concurrency = 4, pollMs = 1_000, signal, stopWithinMs = 10_000, keepMs = thirtyDaysMs, recover } = options;
  const { decide = {}, decideTimeoutMs = 30_000 } = options;
  const { pool, schema, name, timeoutMs, ready$ } = place;
  checkPositive({ concurrency }, true);
  checkPositive({ pollMs, keepMs, decideTimeoutMs });
  for (const [each, fn] of Object.entries(decide))
    if (typeof fn !== 'function') throw new TypeError(`decide.${each} must be a function`);
  checkNotNegative({ stopWithinMs });
  recoveryTimeMs({ recover });
  const policy = retryPolicy({ baseDelayMs: 1_000, maxDelayMs: 60_000 }, options.retry);
  const retry = { ...policy, maxDelayMs: Math.min(policy.maxDelayMs, maxPeriodMs) };
  const client = clientOf(ledger);
  const tables = outboxTablesIn(schema);
  const lockName = `${outboxPrefix}${name}`;
  const state: { hasWorked: boolean; isRunning: boolean; places?: Places | undefined } = {
    hasWorked: false,
    isRunning: false,
  };
  const lastHolders = new Map<string, string>();
  const lease$ = defer(() => ready$).pipe(
    switchMap(() => {
      const how = { name: lockName, isolation: 'READ COMMITTED', timeoutMs, pollMs, lastHolders };
      return holdLease(pool, { tables: tablesIn(schema), ...how });
    }),
    tap(() => {
      state.hasWorked = true;
    }),
    mapError((error) =>
      asStoreError('hold', lockName, asDatabaseError('hold', lockName, schema, error, state.hasWorked)),
    ),
  );
  const report = reportOf(client.report, { outbox: name });
  const stopper = new Stopper(signal);
  const submitted$ = defer(() => {
    let isSending = false;
    state.isRunning = true;
    const stop = stopper.begin();
    const send = ({ client: connection, fence }: Lease): Observable<Submitted | undefined> =>
      defer(() => {
        isSending = true;
        const places = (state.places = new Places(concurrency));
        const rows = new OutboxRows({ client: connection, tables, name, lockName, fence, timeoutMs });
        const settings = { ledger, client, places, pollMs, keepMs, retry, recover, name, decide, decideTimeoutMs };
        return sendCommands({ ...settings, ...stop, rows });
      }).pipe(
        finalize(() => {
          isSending = false;
          state.places = undefined;
        }),
      );
    return whileHeld(lease$, send).pipe(
      // each value renews the budget
      retryTransient(
        { retry: storeRetryPolicy(retry), report },
        (error) => isLedgerError(error, 'StoreError') && isTransient(error),
      ),
      filter((submitted) => submitted !== undefined),
      endAtStop(stop, () => isSending, stopWithinMs),
      finalize(() => {
        state.isRunning = false;
      }),
    );
  });
  const own = (): OwnState => {
    if (state.places === undefined) return { role: state.isRunning ? 'standby' : 'starting', state: 'waiting' };
    return { role: 'leader', state: state.places.isPaused ? 'paused' : 'running' };
  };
  return withStatus(submitted$, stopper, statusReader(place, own));
}
