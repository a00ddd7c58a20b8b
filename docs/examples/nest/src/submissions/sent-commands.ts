import { Inject, Injectable, ServiceUnavailableException } from '@nestjs/common';
import { isLedgerError } from 'canton-rx';
import type { CommandsOptions, Ledger, Offset, SubmittedTransaction } from 'canton-rx';
import type { Pool } from 'pg';
import { catchError, concat, concatMap, defer, EMPTY, ignoreElements, map, retry, shareReplay, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { POOL } from '../database/pool.js';
import { LEDGER } from '../ledger/ledger.js';

/**
 * The commands that were sent, in the database. A client may repeat its request after the process that sent the command has
 * ended. The ledger then has to be asked about the time since the ledger end before the first attempt, which only the
 * database knows by then.
 */
@Injectable()
export class SentCommands {
  private readonly created$: Observable<unknown>;

  constructor(
    @Inject(LEDGER) private readonly ledger: Ledger,
    @Inject(POOL) private readonly pool: Pool,
  ) {
    // two processes that create the same table at once can fail; a failure is not kept
    this.created$ = defer(() => pool.query(createTable)).pipe(retry(1), shareReplay(1));
  }

  /** Sends a command after it has been recorded. `send` gets `since` if an earlier attempt may have been committed. */
  submit(
    commandId: string,
    send: (options: CommandsOptions) => Observable<SubmittedTransaction>,
  ): Observable<SubmittedTransaction> {
    return this.ledger.ledgerEnd().pipe(
      concatMap((end) => this.record(commandId, end)),
      concatMap(({ since, attempts }) =>
        send(attempts > 1 ? { since } : {}).pipe(
          catchError((error: unknown) =>
            concat(
              this.withdraw(commandId, error),
              throwError(() => error),
            ),
          ),
        ),
      ),
    );
  }

  private record(commandId: string, end: Offset): Observable<{ readonly since: Offset; readonly attempts: number }> {
    const recorded$ = defer(() =>
      this.pool.query<{ since: string; attempts: number }>(recordAttempt, [commandId, end]),
    );
    return this.created$.pipe(
      concatMap(() => recorded$),
      map(({ rows: [row] }) => ({ since: Number(row?.since), attempts: Number(row?.attempts) })),
      catchError((cause: unknown) => throwError(() => notRecorded(cause))),
    );
  }

  /** An attempt that was certainly not committed is no longer counted. If that fails, the next attempt only takes longer. */
  private withdraw(commandId: string, error: unknown): Observable<never> {
    if (!isLedgerError(error) || error._tag === 'OutcomeUnknownError') return EMPTY;
    return defer(() => this.pool.query(withdrawAttempt, [commandId])).pipe(
      ignoreElements(),
      catchError(() => EMPTY),
    );
  }
}

/** `attempts` counts those that were committed, or may have been. */
const createTable = `
  CREATE SCHEMA IF NOT EXISTS submissions;
  CREATE TABLE IF NOT EXISTS submissions.sent (
    command_id text PRIMARY KEY, since bigint NOT NULL, attempts integer NOT NULL DEFAULT 1
  )`;

/** A ledger end before `since` is that of a new ledger, such as a sandbox that was started again. */
const recordAttempt = `
  INSERT INTO submissions.sent AS sent (command_id, since) VALUES ($1, $2)
  ON CONFLICT (command_id) DO UPDATE
    SET since = least(sent.since, excluded.since), attempts = sent.attempts + 1
  RETURNING since, attempts`;

const withdrawAttempt = 'UPDATE submissions.sent SET attempts = attempts - 1 WHERE command_id = $1';

/** Without a record nothing is sent. */
const notRecorded = (cause: unknown): ServiceUnavailableException =>
  new ServiceUnavailableException(
    { statusCode: 503, error: 'NotRecorded', wasCommitted: false, next: 'Repeat the request later.' },
    { cause },
  );
