import type { PoolClient } from 'pg';
import { map, type Observable } from 'rxjs';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import type { LedgerPosition } from '../../codecs/LedgerPosition.js';
import type { Offset } from '../../codecs/scalars.js';
import type { WorkCounts } from '../../diagnostics/SubmissionDiagnostic.js';
import { StoreError, type StoreOperation } from '../../errors/process.js';
import { mapError } from '../../http/retry.js';
import { asStoreError } from '../../process/heldStore.js';
import { query } from '../connection.js';
import { countsOf, countsSql, type OutboxTables } from './tables.js';
import type { DecideRequest } from './requests.js';

/** A command that must be sent. */
export interface OutboxRow<R = CommandsRequest | DecideRequest> {
  readonly id: number;
  readonly commandId: string;
  readonly key: string | undefined;
  /** What to send, or how to decide it. What may be committed is decided. */
  readonly request: R;
  /** The name of the function that decides; `undefined` for a command that was enqueued with its content. */
  readonly decide: string | undefined;
  /** Whether an earlier attempt may have been committed. */
  readonly mayBeCommitted: boolean;
  /** A ledger end before the first attempt. */
  readonly since: Offset;
  /** The participant to which that belongs, if it is known. */
  readonly participant: string | undefined;
  /** The position before the first attempt that may be committed, if there was one. */
  readonly position: LedgerPosition | undefined;
  /** The number of failures in a row. */
  readonly failures: number;
  /** How many of its refusals are counted, because the cause may be the command. */
  readonly refusals: number;
  /** The time since it was enqueued, by the clock of the database, in milliseconds. */
  readonly ageMs: number;
}

/** A command whose content is decided, and the position of the ledger before it is sent. */
export interface BegunCommand {
  readonly row: OutboxRow<CommandsRequest>;
  readonly position: LedgerPosition;
}

/** What an attempt changes in its row. */
export interface RowChange {
  readonly state: 'pending' | 'committed' | 'parked' | 'dropped';
  readonly mayBeCommitted: boolean;
  readonly reason?: string;
  readonly error?: string;
  readonly updateId?: string | undefined;
  readonly offset?: Offset;
  /** Where the first attempt was sent, if it may be committed: a ledger of several addresses may have chosen another one. */
  readonly sentAfter?: LedgerPosition | undefined;
  /** After which time a pending command is sent again, in milliseconds. */
  readonly delayMs?: number;
  /** Whether the deduplication period gets another start, because the participant has pruned this one. */
  readonly forgetsSince?: boolean;
  /** Whether the other commands would fail, too. It does not count as a failure of this one. */
  readonly concernsAll?: boolean;
  /** Whether it is a refusal of which only some are allowed, because the cause may be the command. */
  readonly isLimited?: boolean;
}

/** The holder of an outbox's name. */
interface Holder {
  readonly client: PoolClient;
  readonly tables: OutboxTables;
  /** The name of the outbox. */
  readonly name: string;
  /** The name of its lock. */
  readonly lockName: string;
  /** The fencing token. A holder that has lost the name changes nothing. */
  readonly fence: string;
  readonly timeoutMs: number;
}

/** The maximum number of rows that one statement deletes. */
const maxDeleted = 10_000;

/**
 * The statements of the process that sends the commands of an outbox. Each is a transaction by itself. They fail with a
 * {@link StoreError}.
 *
 * A database that has lost its last commits gives numbers again. A pooler may keep the connection of the holder meanwhile, so each
 * statement names the command, too.
 */
export class OutboxRows {
  readonly #held: string;

  constructor(private readonly holder: Holder) {
    // locked, so that a statement and a takeover wait for each other
    this.#held = `held AS MATERIALIZED (
      SELECT FROM ${holder.tables.cursors} WHERE name = $1 AND fence = $2::bigint FOR SHARE)`;
  }

  /**
   * Emits the commands that are due, the one that has been due longest first: of each key the first one that is not committed,
   * unless it is parked.
   *
   * @param sending - the ids of the commands that are being sent
   * @param maxDelayMs - the maximum delay of a retry. One that is further away was planned before the clock was set back
   */
  due(limit: number, sending: readonly number[], maxDelayMs: number): Observable<readonly OutboxRow[]> {
    const { commands } = this.holder.tables;
    const sql = `SELECT id::text AS id, command_id AS "commandId", key, decide,
        coalesce(CASE WHEN may_be_committed THEN decided END, request)::text AS request, may_be_committed AS "mayBeCommitted", since::text AS since, participant, position::text AS position, failures, refusals, round(extract(epoch FROM now() - enqueued_at) * 1000)::text AS "ageMs"
      FROM ${commands} AS c
      WHERE name = $1 AND state = 'pending' AND id <> ALL ($2::bigint[])
        AND (retry_at IS NULL OR retry_at NOT BETWEEN now() AND now() + $4 * interval '1 millisecond')
        AND (key IS NULL OR NOT EXISTS (
          SELECT FROM ${commands} AS earlier
          WHERE earlier.name = c.name AND earlier.key = c.key AND earlier.id < c.id
            AND earlier.state IN ('pending', 'parked')))
      ORDER BY coalesce(retry_at, enqueued_at), c.id LIMIT $3`;
    return this.#run('load', sql, [this.holder.name, sending, limit, maxDelayMs]).pipe(map((rows) => rows.map(toRow)));
  }

  /**
   * Saves that commands may be committed after a position, and what was decided for them, before any of them is sent. Emits those
   * to send. A start that was saved before is kept, as long as it belongs to this ledger.
   */
  begin(due: readonly BegunCommand[]): Observable<readonly BegunCommand[]> {
    const isKept = `(c.may_be_committed OR (c.since <= now.since AND c.participant IS NOT DISTINCT FROM now.participant))`;
    const sql = `WITH ${this.#held}
      UPDATE ${this.holder.tables.commands} AS c SET
        since = CASE WHEN ${isKept} THEN c.since ELSE now.since END,
        participant = CASE WHEN ${isKept} THEN c.participant ELSE now.participant END,
        position = CASE WHEN c.may_be_committed THEN c.position ELSE now.position::json END,
        reason = CASE WHEN c.may_be_committed THEN c.reason END,
        error = CASE WHEN c.may_be_committed THEN c.error END,
        decided = now.decided::json,
        may_be_committed = true, retry_at = NULL, changed_at = now()
      FROM held, unnest($3::bigint[], $4::boolean[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[])
        AS now (id, may_be_committed, decided, since, participant, position, command_id)
      WHERE c.id = now.id AND c.command_id = now.command_id AND c.state = 'pending' AND c.may_be_committed = now.may_be_committed
      RETURNING c.id::text AS id, c.since::text AS since, c.participant, c.position::text AS position`;
    const values = [
      due.map(({ row }) => row.id),
      due.map(({ row }) => row.mayBeCommitted),
      due.map(({ row }) => (row.decide === undefined ? null : JSON.stringify(row.request))),
      due.map(({ position }) => position.offset),
      due.map(({ position }) => position.participantId ?? null),
      due.map(({ position }) => JSON.stringify(position)),
      due.map(({ row }) => row.commandId),
    ];
    return this.#runHeld(sql, values).pipe(
      map((rows) => {
        const begun = new Map(rows.map((row) => [Number(row['id']), row]));
        return due.flatMap(({ row, position }) => {
          const now = begun.get(row.id);
          return now === undefined ? [] : [{ row: { ...row, ...startIn(now) }, position }];
        });
      }),
    );
  }

  /** Records the outcome of an attempt. One that was dropped meanwhile can only be committed. Fails if another process has taken over the name. */
  record({ id, commandId, decide, failures, refusals }: OutboxRow, change: RowChange): Observable<unknown> {
    const {
      state,
      mayBeCommitted,
      reason,
      error,
      updateId,
      offset,
      delayMs,
      forgetsSince = false,
      concernsAll,
      isLimited = false,
      sentAfter,
    } = change;
    const sql = `WITH ${this.#held}, changed AS (
        UPDATE ${this.holder.tables.commands} SET state = $4, may_be_committed = $5, reason = $6, error = $7,
          update_id = $8, "offset" = $9, failures = $10, retry_at = now() + $11 * interval '1 millisecond',
          since = CASE WHEN $12 THEN NULL ELSE coalesce($13, since) END,
          participant = CASE WHEN $13::bigint IS NULL THEN participant ELSE $14 END,
          position = coalesce($15::json, position), refusals = $16, changed_at = now()
        WHERE id = $3 AND command_id = $17 AND EXISTS (SELECT FROM held)
          AND (state IN ('pending', 'parked') OR (state = 'dropped' AND $4 = 'committed')))
      SELECT EXISTS (SELECT FROM held) AS "isHeld"`;
    const nextFailures = state === 'committed' ? 0 : failures + (concernsAll === true ? 0 : 1);
    // other failures, as in an outage, say nothing of the command; but a function may fail between two equal decisions
    const keptRefusals = decide === undefined || state === 'committed' ? 0 : refusals;
    const nextRefusals = isLimited ? refusals + 1 : keptRefusals;
    const start = sentAfter && [sentAfter.offset, sentAfter.participantId, JSON.stringify(sentAfter)];
    const outcomeValues = [
      id,
      state,
      mayBeCommitted,
      reason,
      error,
      updateId,
      offset,
      nextFailures,
      delayMs,
      forgetsSince,
    ];
    const values = [...outcomeValues, ...(start ?? [undefined, undefined, undefined]), nextRefusals, commandId];
    return this.#runHeld(sql, values).pipe(
      map(([row]) => {
        if (row?.['isHeld'] !== true)
          throw new StoreError('hold', this.holder.lockName, 'another process holds the name now');
      }),
    );
  }

  /** Emits which of the commands that are being sent were dropped meanwhile. */
  dropped(sending: readonly number[]): Observable<readonly number[]> {
    const sql = `SELECT id::text AS id FROM ${this.holder.tables.commands}
      WHERE id = ANY ($1::bigint[]) AND state = 'dropped'`;
    return this.#run('load', sql, [sending]).pipe(map((rows) => rows.map((row) => Number(row['id']))));
  }

  /** Emits how much there is to do. */
  counts(): Observable<WorkCounts> {
    return this.#run('load', countsSql(this.holder.tables), [this.holder.name]).pipe(map(countsOf));
  }

  /** Deletes commands that were committed or dropped long ago. */
  deleteOld(keepMs: number): Observable<unknown> {
    const { commands } = this.holder.tables;
    const sql = `DELETE FROM ${commands} WHERE id IN (
      SELECT id FROM ${commands} WHERE name = $1 AND state IN ('committed', 'dropped')
        AND changed_at < now() - $2 * interval '1 millisecond' LIMIT ${maxDeleted})`;
    return this.#run('save', sql, [this.holder.name, keepMs]);
  }

  #runHeld(sql: string, values: readonly unknown[]): ReturnType<typeof query> {
    const { lockName, fence } = this.holder;
    return this.#run('save', sql, [lockName, fence, ...values]);
  }

  #run(operation: StoreOperation, sql: string, values: readonly unknown[]): ReturnType<typeof query> {
    const { client, timeoutMs, lockName } = this.holder;
    return query(client, timeoutMs, sql, values).pipe(mapError((error) => asStoreError(operation, lockName, error)));
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const startIn = (row: Readonly<Record<string, unknown>>): Pick<OutboxRow, 'since' | 'participant' | 'position'> => {
  const position = textOf(row['position']);
  return {
    since: Number(row['since'] ?? 0),
    participant: textOf(row['participant']),
    position: position === undefined ? undefined : (JSON.parse(position) as LedgerPosition),
  };
};

const toRow = (row: Readonly<Record<string, unknown>>): OutboxRow => ({
  id: Number(row['id']),
  commandId: String(row['commandId']),
  key: textOf(row['key']),
  request: JSON.parse(String(row['request'])) as OutboxRow['request'],
  decide: textOf(row['decide']),
  mayBeCommitted: row['mayBeCommitted'] === true,
  ...startIn(row),
  failures: Number(row['failures']),
  refusals: Number(row['refusals']),
  ageMs: Number(row['ageMs']),
});
