import type { ClientBase, Pool, QueryResult } from 'pg';
import { concatMap, defer, map, type Observable, of, tap } from 'rxjs';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import { checkPositive } from '../../codecs/internal/numbers.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { randomUuid } from '../../submission/Run.js';
import { query } from '../connection.js';
import { ensureOutbox, ensureOutboxSql, isCreated, type OutboxTables, outboxTablesIn } from './tables.js';
import type { Submissions } from './OutboxStatus.js';
import { type DecideRequest, isUndecided, validateForOutbox } from './requests.js';
import { submitAll, type SubmitAllOptions } from './submitAll.js';

/**
 * Options of {@link commandOutbox}.
 *
 * @category Outbox
 */
export interface CommandOutboxOptions {
  /**
   * The database, which must be that of the handlers that enqueue. The process that sends, and each standby, uses one connection
   * of the pool in addition to those of processors, so the pool must allow at least two.
   */
  readonly pool: Pool;
  /**
   * The schema of the tables: lower-case letters, digits and underscores.
   *
   * @defaultValue 'public'
   */
  readonly schema?: string | undefined;
  /**
   * Identifies the outbox in the schema. Use one outbox for each participant and user.
   *
   * @defaultValue 'commands'
   */
  readonly name?: string | undefined;
  /**
   * Whether to create the tables if they are missing. For migrations, {@link outboxSql} returns the SQL.
   *
   * @defaultValue true
   */
  readonly createTables?: boolean | undefined;
  /**
   * How long the database may take for a statement of the outbox, in milliseconds. After that time the connection counts as
   * lost. It does not apply to `enqueue`.
   *
   * @defaultValue 30000
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Options of {@link CommandOutbox.enqueue}.
 *
 * @category Outbox
 */
export interface EnqueueOptions {
  /**
   * Commands with the same key are sent one after the other, in the order in which they were enqueued. Until the transaction
   * ends, other transactions wait before they enqueue with the same key. Default: no order.
   */
  readonly key?: string | undefined;
}

/**
 * The result of {@link CommandOutbox.enqueue}.
 *
 * @category Outbox
 */
export interface Enqueued {
  /** The command id. */
  readonly commandId: string;
  /** The number of the command in the outbox; absent if the outbox already has a command with this command id. */
  readonly id?: number;
}

/**
 * A command that waits for a person.
 *
 * @category Outbox
 */
export interface ParkedCommand {
  /** The number of the command in the outbox. */
  readonly id: number;
  /** The command id. */
  readonly commandId: string;
  /** The key, if the command has one. Later commands with this key wait, too. */
  readonly key?: string;
  /**
   * Why: the reason of a `SubmissionRejectedError`; `unknown` if the participant has pruned what shows the outcome; `replaced` if the
   * command may have been sent to another ledger; `decide` if `submitAll` has no function with its name.
   */
  readonly reason: string;
  /** The name of the function that decides it, if one does. */
  readonly decide?: string;
  /** The message of the error. */
  readonly error: string;
  /** Whether the command may have been committed. */
  readonly mayBeCommitted: boolean;
}

/**
 * Commands that are committed to a database first, and then to a ledger.
 *
 * @category Outbox
 */
export interface CommandOutbox {
  /**
   * Adds a command to the outbox, in a transaction of yours: it will be sent if the transaction commits, and never otherwise. The
   * statement is queued when the function returns, so it comes before a COMMIT even if you do not wait for the Promise.
   *
   * Its `commandId` is fixed here. If the outbox already has a command with the same one, nothing is added. A
   * `deduplicationPeriod` must be an offset; it is extended to the ledger end before the first attempt. Without one, attempts look back
   * to 36 hours before now, for what a restored database has forgotten.
   *
   * With `decide`, the command has no content yet: a function of `submitAll` decides it right before it is sent.
   *
   * @param tx - a connection with an open transaction, such as the `tx` of a handler
   * @param request - the commands, or the name and the argument of the function that decides them. Default of its `commandId`: a random UUID
   * @returns a Promise, which rejects if the database refuses the statement
   * @throws InvalidRequestError synchronously, if the ledger would refuse the request; TypeError for an empty key
   */
  enqueue(tx: ClientBase, request: CommandsRequest | DecideRequest, options?: EnqueueOptions): Promise<Enqueued>;
  /**
   * Sends the commands of the outbox, and records their outcomes. Cold and endless. Of several processes, one sends; another one
   * takes over when its connection to the database ends.
   *
   * Each command is committed at most once, whatever crashes: that it may be sent is saved before it is sent, with the ledger
   * end at that time. A command that fails for a reason that passes is sent again: contention, traffic, back-pressure, topology,
   * timeouts, or a participant that cannot be reached. Any other refusal parks it, also that a contract is archived: then the
   * later commands of its key wait until a person retries or drops it.
   *
   * Fails with a `StoreError` if the database fails for longer than `retry` allows. Unsubscribing aborts what is being sent; the
   * next start determines its outcome.
   *
   * @param ledger - the ledger, of `createLedger`, with the same participant and user at each start
   * @throws TypeError synchronously, for invalid options
   */
  submitAll(ledger: Ledger, options?: SubmitAllOptions): Submissions;
  /** Emits the commands that are parked, oldest first. */
  parked(): Observable<ParkedCommand>;
  /**
   * Lets a parked command be sent again. A command that may have been committed is looked for first. Emits whether it was
   * parked.
   *
   * Fails with the error of the database, or with a `TimeoutError` of RxJS after `timeoutMs`. If the answer of the database is
   * lost, the change may be made nevertheless, also later: look at `parked` before you repeat it with `forget`.
   *
   * @param id - the number of the command
   * @param options - `forget`: forgets that it may have been committed, for a ledger that was replaced. If the ledger has committed
   * it, it may commit it again
   */
  retry(id: number, options?: { readonly forget?: boolean }): Observable<boolean>;
  /**
   * Gives up a command that is parked, waits or is being sent, so that the later ones of its key are sent. One that was sent may
   * be committed nevertheless. Emits whether there was such a command. Fails as `retry` does.
   */
  drop(id: number): Observable<boolean>;
}

/**
 * Returns an outbox: commands that handlers of events enqueue in their PostgreSQL (12 or later) transactions. The decision, the
 * cursor and the command are committed together, or none of them. The ledger then commits each command once.
 *
 * @throws TypeError for an invalid option, and for a pool of one connection
 * @example
 * ```ts
 * import { type Command, createLedger } from 'canton-rx';
 * import { commandOutbox } from 'canton-rx/postgres';
 * import { Pool } from 'pg';
 *
 * const pool = new Pool();
 * const outbox = commandOutbox({ pool });
 *
 * export const order = async (party: string, command: Command) => {
 *   const tx = await pool.connect();
 *   tx.on('error', () => undefined); // its statement fails, and the program does not end
 *   try {
 *     await tx.query('BEGIN');
 *     await tx.query('INSERT INTO orders (party) VALUES ($1)', [party]);
 *     await outbox.enqueue(tx, { commands: [command], actAs: [party] }, { key: party });
 *     await tx.query('COMMIT');
 *   } finally {
 *     tx.release(true); // rolls back after an error
 *   }
 * };
 *
 * export const send = () => outbox.submitAll(createLedger({ baseUrl: 'http://127.0.0.1:7575' }));
 * ```
 *
 * @category Outbox
 */
export function commandOutbox(options: CommandOutboxOptions): CommandOutbox {
  const { pool, schema = 'public', name = 'commands', createTables = true, timeoutMs = 30_000 } = options;
  checkPositive({ timeoutMs });
  const tables = outboxTablesIn(schema);
  const { commands } = tables;
  checkText({ name });
  if (pool.options.max < 2)
    throw new TypeError('pool must allow at least 2 connections: the outbox holds one, and handlers need another');
  const ensure = ensureOutboxSql(schema);
  let isReady = !createTables;
  const ready$ = defer(() => (isReady ? of(true) : ensureOutbox(pool, schema, timeoutMs))).pipe(
    tap(() => {
      isReady = true;
    }),
  );
  const change = (id: number, from: string, set: string): Observable<boolean> => {
    const sql = `UPDATE ${commands} SET ${set}, changed_at = now() WHERE name = $1 AND id = $2 AND state IN (${from})
      RETURNING true`;
    return ready$.pipe(
      concatMap(() => query(pool, timeoutMs, sql, [name, id])),
      map((rows) => rows.length === 1),
    );
  };
  return {
    enqueue: (tx, request, { key } = {}) => {
      if (key !== undefined) checkText({ key });
      const { commandId, ...validated } = validateForOutbox(request);
      const id = commandId ?? randomUuid();
      const decide = isUndecided(request) ? request.decide : undefined;
      const insert = insertSql(
        tables,
        [name, key, id, JSON.stringify(validated), decide].map((text) =>
          text === undefined ? 'NULL' : tx.escapeLiteral(text),
        ),
      );
      // as one request, because a connection has one statement at a time
      const enqueued = tx.query(isReady ? insert : `${ensure};${insert}`).then(
        (result: unknown): Enqueued => {
          const [row] = ([result].flat().at(-1) as QueryResult<{ id: string; isCreated: boolean }>).rows;
          // not if this transaction creates the tables: it may be rolled back
          if (row?.isCreated === false) isReady = true;
          return { commandId: id, ...(row !== undefined && { id: Number(row.id) }) };
        },
        (error: unknown) => {
          // the transaction that created the tables may have been rolled back
          isReady = !createTables;
          throw error;
        },
      );
      // a caller that does not wait cannot commit either
      enqueued.catch(() => undefined);
      return enqueued;
    },
    submitAll: (ledger, submitOptions = {}) =>
      submitAll({ pool, schema, name, timeoutMs, ready$ }, ledger, submitOptions),
    parked: () =>
      ready$.pipe(
        concatMap(() => query(pool, timeoutMs, parkedSql(commands), [name])),
        // as text: a program may have its own parser for JSON
        concatMap((rows) => rows.map((row) => JSON.parse(String(row['command'])) as ParkedCommand)),
      ),
    retry: (id, { forget = false } = {}) => {
      const reset = forget ? ', may_be_committed = false, since = NULL, participant = NULL, position = NULL' : '';
      return change(id, `'parked'`, `state = 'pending', retry_at = now(), failures = 0, refusals = 0${reset}`);
    },
    drop: (id) => change(id, `'pending', 'parked'`, `state = 'dropped'`),
  };
}

/**
 * Returns the statement that adds a command. Its key is locked until the transaction ends, so that the ids of the commands of a
 * key have the order of the commits.
 */
function insertSql({ commands, id }: OutboxTables, values: readonly string[]): string {
  const [name = '', key = ''] = values;
  const lock = `pg_advisory_xact_lock(hashtextextended(concat_ws(' ', '${id}', ${name}, ${key}), 2))::text`;
  return `WITH locked AS MATERIALIZED (SELECT CASE WHEN ${key} IS NOT NULL THEN ${lock} END AS done)
    INSERT INTO ${commands} (name, key, command_id, request, decide) SELECT ${values.join(', ')} FROM locked
    ON CONFLICT (name, command_id) DO NOTHING RETURNING id::text AS id, ${isCreated} AS "isCreated"`;
}

const parkedSql = (
  commands: string,
): string => `SELECT json_strip_nulls(json_build_object('id', id, 'commandId', command_id,
    'key', key, 'reason', coalesce(reason, 'other'), 'decide', decide, 'error', coalesce(error, ''),
    'mayBeCommitted', may_be_committed))::text AS command
  FROM ${commands} AS c WHERE name = $1 AND state = 'parked' ORDER BY c.id`;

/** Throws a TypeError for a text that is empty, or that PostgreSQL cannot store. */
function checkText(texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts))
    if (typeof text !== 'string' || text === '' || text.includes('\0'))
      throw new TypeError(`${name} must be a text that is not empty`);
}
