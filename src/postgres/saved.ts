import type { ClientBase } from 'pg';
import { catchError, concatMap, of, type Observable } from 'rxjs';
import { StoreError } from '../errors/StoreError.js';
import type { Cursor } from '../process/Cursor.js';
import { HandlerFailure } from '../process/HandlerFailure.js';
import { asked } from './asked.js';
import { isSpoilt } from './sqlStateOf.js';
import type { Tables } from './postgresTables.js';

/** The number of this transaction's holder; the database forgets it when the transaction ends, whoever ends it. */
const fence = `nullif(current_setting('canton_rx.fence', true), '')`;

/** Saves a cursor in a transaction, if it is still the same one, and the name still held. */
export const saved = (
  tx: ClientBase,
  { cursors }: Tables,
  name: string,
  cursor: Cursor,
  timeoutMs: number,
): Observable<unknown> => {
  const save = `UPDATE ${cursors} SET cursor = $2, saved_at = now()
    WHERE name = $1 AND fence = ${fence}::bigint RETURNING true`;
  return asked(tx, timeoutMs, save, [name, JSON.stringify(cursor)]).pipe(
    concatMap((rows) => (rows.length === 1 ? of(true) : refused(tx, name, timeoutMs))),
    catchError((error: unknown) => {
      throw isSpoilt(error)
        ? new HandlerFailure(new Error('the handler left its transaction failed', { cause: error }), 0)
        : error;
    }),
  );
};

const refused = (tx: ClientBase, name: string, timeoutMs: number): Observable<never> =>
  asked(tx, timeoutMs, `SELECT ${fence} IS NULL AS "isEnded"`, []).pipe(
    concatMap(([row]) => {
      if (row?.['isEnded'] === true) throw new HandlerFailure(new Error('the handler has ended its transaction'), 0);
      throw new StoreError('save', name, 'another process holds the name by now');
    }),
  );
