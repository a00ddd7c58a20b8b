import { catchError, concatMap, map, type Observable, of, switchMap } from 'rxjs';
import { isHeld } from '../postgres/leaseSql.js';
import type { LedgerPosition } from '../index.js';
import type { Cursor } from '../process/index.js';
import { readInteger, UsageError } from './arguments.js';
import { readConnection } from './Connection.js';
import { inTransaction } from './change.js';
import { type Queryable, rowsOf } from './database.js';
import { reportError } from './failure.js';
import { participantId } from './participant.js';
import { firstAnswer, openSession } from './Session.js';
import { readTime } from './start.js';
import { pasted, refusal, required, type Result, type Store } from './store.js';
import { escapeText } from './terminal.js';

/** Lets no process hold the name of a processor: the running one ends its transaction, and begins none. */
export function pause({ pool, schema, values }: Store): Result {
  const name = required(values, 'name');
  return inTransaction(pool, pasted('processors list', schema), (db) =>
    rowsOf(
      db,
      `INSERT INTO "${schema}".canton_rx_leases AS l (name, renewed_at, paused_at)
      SELECT c.name, clock_timestamp(), clock_timestamp() FROM "${schema}".canton_rx_cursors c
      WHERE c.name = $1 AND NOT (c.name LIKE 'outbox %' AND c.cursor IS NULL)
      ON CONFLICT (name) DO UPDATE SET paused_at = coalesce(l.paused_at, excluded.paused_at)
      RETURNING ${isHeld} AS "isHeld"`,
      [name],
    ),
  ).pipe(
    map(([row]) => {
      if (row === undefined) throw name.startsWith('outbox ') ? outboxRefusal(name) : unknownProcessor(schema, name);
      const paused = `the processor ${escapeText(name)} is paused`;
      return [row['isHeld'] === true ? `${paused}: it ends its current batch, and commits nothing after that` : paused];
    }),
  );
}

/** An outbox has no batch that ends: it would send what is due until it notices the pause. */
const outboxRefusal = (name: string): Error =>
  refusal(
    `${name} is not a processor: an outbox sends its commands until its processes stop`,
    'stop the processes that run it',
  );

/** Lets processes hold the name again. */
export function resume({ pool, schema, values }: Store): Result {
  const name = required(values, 'name');
  return inTransaction(pool, pasted('processors list', schema), (db) =>
    rowsOf(
      db,
      `UPDATE "${schema}".canton_rx_leases SET paused_at = NULL WHERE name = $1 AND paused_at IS NOT NULL RETURNING 1`,
      [name],
    ),
  ).pipe(
    map((rows) => {
      if (rows.length === 0)
        throw refusal(`the processor ${name} is not paused`, `see ${pasted('processors list', schema)}`);
      return [`the processor ${escapeText(name)} works again: a process that waits takes over within seconds`];
    }),
  );
}

/** Moves the cursor back, so that the handler gets the updates after an offset again. */
export function rewind(store: Store): Result {
  const { pool, schema, values } = store;
  const name = required(values, 'name');
  return offsetOf(store, required(values, 'to')).pipe(
    concatMap((target) => {
      // what explains the failure is printed
      if ('code' in target) return of(target.code);
      return inTransaction(pool, pasted('processors list', schema), (db) =>
        lockedCursor(db, schema, name).pipe(
          concatMap((cursor) => {
            const moved = movedBack(store, name, cursor, target);
            // a pause may end before its holder notices it: without the lease, the holder begins again at the cursor
            const release = `UPDATE "${schema}".canton_rx_leases SET holder = NULL WHERE name = $1`;
            // the fencing token ends a transaction that a paused processor still has open
            const save = `UPDATE "${schema}".canton_rx_cursors SET cursor = $2, fence = fence + 1, saved_at = now() WHERE name = $1`;
            return rowsOf(db, save, [name, JSON.stringify(moved)]).pipe(concatMap(() => rowsOf(db, release, [name])));
          }),
          concatMap(() => parkedAfter(db, schema, name, target.offset)),
          map((parked) => [
            `the processor ${escapeText(name)} continues after offset ${target.offset}, and handles later updates again`,
            ...(parked === 0
              ? []
              : [
                  `${parked} of them are parked: drop those that are handled now, see ${pasted('parked list', schema)}`,
                ]),
          ]),
        ),
      );
    }),
  );
}

/** Where to move a cursor. */
interface Target {
  readonly offset: number;
  /** The participant to which the offset belongs, if that is known. */
  readonly participantId?: string | undefined;
}

/** The offset of `--to`, which the ledger finds for a time; or the exit code if it cannot. */
function offsetOf({ values, world }: Store, to: string): Observable<Target | { readonly code: number }> {
  if (/^\d+$/.test(to)) return of({ offset: readInteger('to', to, 0) });
  if (to.startsWith('-')) throw new UsageError(`--to must be an offset from 0 or a time, got '${to}'`);
  const time = readTime(to, '--to');
  const { party: parties = [] } = values;
  return openSession(readConnection(values, world), world).pipe(
    switchMap((session) =>
      firstAnswer(session).pipe(
        concatMap(() => session.ledger.offsetAt(time, parties.length === 0 ? {} : { parties })),
        concatMap((offset) => participantId(session.connection).pipe(map((id) => ({ offset, participantId: id })))),
        catchError((error: unknown) =>
          reportError(error, { parties, templates: [], resume: '' }, session).pipe(map((code) => ({ code }))),
        ),
      ),
    ),
  );
}

/** The cursor of a processor that does not run, or is paused. Its row is locked, and so is that of its lease. */
const lockedCursor = (db: Queryable, schema: string, name: string): Observable<Readonly<Record<string, unknown>>> =>
  rowsOf(
    db,
    `SELECT ${isHeld} AND l.paused_at IS NULL AS "isRunning" FROM "${schema}".canton_rx_leases l WHERE l.name = $1 FOR UPDATE`,
    [name],
  ).pipe(
    concatMap(([lease]) => {
      if (lease?.['isRunning'] === true)
        throw refusal(
          `the processor ${name} is running`,
          `${pasted('processors pause', schema, name)} first, or stop all its replicas`,
        );
      return rowsOf(db, `SELECT cursor::text AS cursor FROM "${schema}".canton_rx_cursors WHERE name = $1 FOR UPDATE`, [
        name,
      ]);
    }),
    map(([row]) => {
      if (typeof row?.['cursor'] !== 'string') throw unknownProcessor(schema, name);
      return JSON.parse(row['cursor']) as Readonly<Record<string, unknown>>;
    }),
  );

/** A cursor that was moved back, and where it was before. */
interface RewoundCursor extends Cursor {
  readonly rewoundFrom?: LedgerPosition | undefined;
}

/** The fields of the cursor of a feed of updates. That of a rule has the actions that it must not repeat. */
const cursorFields = ['version', 'offset', 'participantId', 'lastUpdate', 'recordTimes', 'selection', 'rewoundFrom'];

/**
 * Returns a cursor at an earlier offset. Which updates were read up to there is not known: it has no record times and no later
 * update, as that of a processor which begins there. The position of before shows at the start that the ledger is the same.
 */
function movedBack(
  { schema }: Pick<Store, 'schema'>,
  name: string,
  stored: Readonly<Record<string, unknown>>,
  target: Target,
): RewoundCursor {
  const reset = pasted('processors reset', schema, name);
  const cursor = stored as unknown as RewoundCursor;
  const { offset, participantId: foundAt = cursor.participantId } = target;
  if ((cursor.participantId ?? foundAt) !== foundAt)
    throw refusal(
      `the cursor is of participant ${cursor.participantId ?? '?'}, but the time was looked up at ${foundAt ?? '?'}, whose offsets are others`,
      'use --ledger with the address of the participant of the cursor',
    );
  if (cursor.selection.startsWith('contracts'))
    throw refusal(
      `the processor ${name} follows contracts, and its rows would be doubled`,
      `${reset} loads them again`,
    );
  if ('seen' in stored && stored['seen'] !== null)
    throw refusal(
      `the cursor of the processor ${name} has the selections of its backfills, which a rewind would make wrong`,
      `${reset} begins again`,
    );
  const isOfUpdates =
    cursor.selection.startsWith('fnv1a:') && Object.keys(stored).every((key) => cursorFields.includes(key));
  if (!isOfUpdates)
    throw refusal(
      `the processor ${name} has no cursor of a feed of updates`,
      'only such a processor can handle updates again',
    );
  if (offset >= cursor.offset)
    throw refusal(
      `the cursor is at offset ${cursor.offset}, which is not after ${offset}`,
      `rewind moves it back only, ${pasted('processors skip', schema, name)} moves it on`,
    );
  const { version, participantId, selection, lastUpdate, recordTimes } = cursor;
  const rewoundFrom = cursor.rewoundFrom ?? { offset: cursor.offset, participantId, lastUpdate, recordTimes };
  const last = rewoundFrom.lastUpdate;
  // it was read before the offset, and proves the ledger also after a commit without updates
  const proof = last && last.offset <= offset ? { lastUpdate: last } : {};
  return { version, offset, participantId, selection, recordTimes: {}, ...proof, rewoundFrom };
}

const parkedAfter = (db: Queryable, schema: string, name: string, offset: number): Observable<number> =>
  rowsOf(db, `SELECT count(*)::int AS count FROM "${schema}".canton_rx_parked WHERE name = $1 AND "offset" > $2`, [
    name,
    offset,
  ]).pipe(map(([row]) => Number(row?.['count'])));

const unknownProcessor = (schema: string, name: string): Error =>
  refusal(`the schema ${schema} has no cursor of the processor ${name}`, `see ${pasted('processors list', schema)}`);
