import { asyncScheduler, concatMap, defer, EMPTY, type Observable, tap } from 'rxjs';
import { run, type Writing } from './statements.js';

/** The maximum number of rows that are removed from a table at once, so that no statement takes long. */
const maxRows = 20_000;

/** Removes rows that are visible to no reader, a limited number at a time. */
export const removeGarbage = ({ tx, names }: Writing): Observable<unknown> => {
  const tables = [names.contracts, names.exercises, names.updates, names.gaps];
  const deleted = tables.map(
    (table, index) => `deleted${index} AS (
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE generation = ANY ((SELECT garbage FROM ${names.state})::int[]) LIMIT ${maxRows}))
      RETURNING 1
    )`,
  );
  const isDone = tables.map((_, index) => `(SELECT count(*) FROM deleted${index}) < ${maxRows}`);
  return run(
    tx,
    `WITH ${deleted.join(', ')}
    UPDATE ${names.state} SET garbage = '{}' WHERE ${isDone.join(' AND ')}`,
  );
};

/** Removes history that has exceeded its retention time. */
export type Retain = (writing: Writing, recordTime: string) => Observable<unknown>;

/** The maximum time between two removals, in milliseconds. */
const maxPauseMs = 60_000;

/**
 * Removes history that is older than `keepMs` by record time, from time to time and a limited number of rows at a time.
 *
 * @throws TypeError if the time is negative or not a number
 */
export function retainFor(keepMs: number): Retain {
  if (!(keepMs >= 0)) throw new TypeError('keepArchivedMs must be a non-negative number of milliseconds');
  if (keepMs === Infinity) return () => EMPTY;
  let pauseUntil = -Infinity;
  return ({ tx, names }, recordTime) =>
    defer(() => {
      const now = asyncScheduler.now();
      if (now < pauseUntil) return EMPTY;
      pauseUntil = now + Math.min(maxPauseMs, keepMs / 10);
      const retain = `SELECT ${names.schema}.projection_retain($1::timestamptz - make_interval(secs => $2), ${maxRows}) AS removed`;
      return run(tx, retain, [recordTime, keepMs / 1_000]).pipe(
        tap(([row]) => {
          // there may be more
          if (Number(row?.['removed']) >= maxRows) pauseUntil = now;
        }),
        concatMap(() => EMPTY),
      );
    });
}
