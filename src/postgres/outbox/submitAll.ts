import type { Pool } from 'pg';
import { defer, filter, finalize, type Observable, switchMap } from 'rxjs';
import { isLedgerError } from '../../errors/LedgerError.js';
import {
  checkNotNegative,
  checkPositive,
  mapError,
  type RetryPolicy,
  retryPolicy,
  retryTransient,
} from '../../http/retry.js';
import { requireConnection } from '../../ledger/connection.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { asStoreError } from '../../process/heldStore.js';
import { endAtStop, stopOn } from '../../process/Stop.js';
import { storeRetryPolicy, whileHeld } from '../../process/whileStoreHeld.js';
import type { CommandsOptions } from '../../submission/submitCommands.js';
import { acquireLock, type HeldLock } from '../lock.js';
import { tablesIn } from '../tables.js';
import type { Submitted } from './outcome.js';
import { OutboxRows } from './OutboxRows.js';
import { outboxTablesIn } from './outboxTables.js';
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
}

/** The outbox whose commands to send. */
interface OutboxSettings {
  readonly pool: Pool;
  readonly schema: string;
  readonly name: string;
  readonly timeoutMs: number;
  /** Emits once when the tables exist. */
  readonly ready$: Observable<unknown>;
}

/** How long the retention is by default, in milliseconds. */
const thirtyDaysMs = 30 * 24 * 3_600_000;

/** Sends the commands of an outbox while this process holds its name. If the database fails, begins again. */
export function submitAll(
  { pool, schema, name, timeoutMs, ready$ }: OutboxSettings,
  ledger: Ledger,
  options: SubmitAllOptions,
): Observable<Submitted> {
  const { concurrency = 4, pollMs = 1_000, signal, stopWithinMs = 10_000, keepMs = thirtyDaysMs, recover } = options;
  checkPositive({ concurrency }, true);
  checkPositive({ pollMs, keepMs });
  checkNotNegative({ stopWithinMs });
  const retry = retryPolicy({ baseDelayMs: 1_000, maxDelayMs: 60_000 }, options.retry);
  const { service } = requireConnection(ledger);
  const tables = outboxTablesIn(schema);
  const lockName = `outbox ${name}`;
  const lock$ = defer(() => ready$).pipe(
    switchMap(() => {
      const how = { name: lockName, isolation: 'READ COMMITTED', timeoutMs, pollMs };
      return acquireLock(pool, { tables: tablesIn(schema), ...how });
    }),
    mapError((error) => asStoreError('hold', lockName, error)),
  );
  return defer(() => {
    let isSending = false;
    const stop = stopOn(signal);
    const send = ({ client, fence }: HeldLock): Observable<Submitted | undefined> =>
      defer(() => {
        isSending = true;
        const rows = new OutboxRows({ client, tables, name, lockName, fence, timeoutMs });
        const settings = { ledger, service, concurrency, pollMs, keepMs, retry, recover, name };
        return sendCommands({ ...settings, ...stop, rows });
      }).pipe(
        finalize(() => {
          isSending = false;
        }),
      );
    return whileHeld(lock$, send).pipe(
      // each value renews the budget
      retryTransient({ retry: storeRetryPolicy(retry), report: service.link.report }, (error) =>
        isLedgerError(error, 'StoreError'),
      ),
      filter((submitted) => submitted !== undefined),
      endAtStop(stop, () => isSending, stopWithinMs),
    );
  });
}
