import { concatMap, defer, EMPTY, type Observable, tap } from 'rxjs';
import { startAge } from '../../http/clock.js';
import { checkNotNegative } from '../../codecs/internal/numbers.js';
import { maxPeriodMs, run } from '../connection.js';
import { ixOfContract, ixOfExercise, ixOfUpdate, type ProjectionSchema } from './tables.js';
import type { Writing } from './templates.js';

/** The maximum number of rows that are removed from a table in one statement, so that no statement takes long. */
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
  checkNotNegative({ keepArchivedMs: keepMs });
  if (keepMs > maxPeriodMs) return () => EMPTY;
  const pauseMs = Math.min(maxPauseMs, keepMs / 10);
  let sinceLastMs = (): number => Infinity;
  return ({ tx, names }, recordTime) =>
    defer(() => {
      if (sinceLastMs() < pauseMs) return EMPTY;
      sinceLastMs = startAge();
      const retain = `SELECT ${names.schema}.projection_retain($1::timestamptz - make_interval(secs => $2), ${maxRows}) AS removed`;
      return run(tx, retain, [recordTime, keepMs / 1_000]).pipe(
        tap(([row]) => {
          // there may be more
          if (Number(row?.['removed']) >= maxRows) sinceLastMs = () => Infinity;
        }),
        concatMap(() => EMPTY),
      );
    });
}

/** Returns the functions that remove history. */
export function retentionFunctions({ schema, state, contracts, exercises, updates, gaps }: ProjectionSchema): string {
  const visible = `generation = ANY ((SELECT s.visible FROM ${state} s)::int[])`;
  const remove = (table: string, ix: string): string => `
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE ${ix} <= up_to AND ${visible} LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  most := greatest(most, removed);`;
  return `
CREATE OR REPLACE FUNCTION ${schema}.projection_prune(up_to bigint, max_rows bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  removed bigint;
  most bigint := 0;
BEGIN
  ${remove(contracts, `archived_at_offset IS NOT NULL AND ${ixOfContract('').archived}`)}
  ${remove(exercises, ixOfExercise(''))}
  ${remove(updates, ixOfUpdate(''))}
  UPDATE ${state} SET oldest_ix = up_to WHERE oldest_ix < up_to;
  RETURN most;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.prune_archived_to_offset(up_to bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  place record := ${schema}.projection_place();
BEGIN
  IF up_to IS NULL OR up_to > coalesce(place.last_ix - place.shift, -1) THEN
    RAISE EXCEPTION 'offset % is not reached', up_to USING ERRCODE = 'object_not_in_prerequisite_state';
  ELSIF up_to + place.shift < place.first_ix THEN
    PERFORM ${schema}.projection_fail_before(up_to, place.first_ix - place.shift);
  END IF;
  PERFORM ${schema}.projection_prune(up_to + place.shift, NULL);
  RETURN (SELECT s.oldest_ix - place.shift FROM ${state} s);
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_retain(since timestamptz, max_rows bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  first_kept bigint;
  first_gap bigint;
BEGIN
  SELECT min(first.ix) INTO first_kept
    FROM ${state} s CROSS JOIN unnest(s.visible) AS v(generation) CROSS JOIN LATERAL (
      SELECT ${ixOfUpdate('u.')} AS ix FROM ${updates} u
      WHERE u.generation = v.generation AND u.record_time >= since ORDER BY 1 LIMIT 1
    ) AS first;
  IF first_kept IS NULL THEN
    RETURN 0;
  END IF;
  -- a contract that ended in a gap may have ended just before the reload: it is as old as the first update after that
  SELECT min(g.until_ix) INTO first_gap
    FROM ${state} s JOIN ${gaps} g ON g.generation = ANY (s.visible) AND g.until_ix > s.oldest_ix
    WHERE coalesce((
      SELECT first.record_time FROM unnest(s.visible) AS v(generation) CROSS JOIN LATERAL (
        SELECT ${ixOfUpdate('u.')} AS ix, u.record_time FROM ${updates} u
        WHERE u.generation = v.generation AND ${ixOfUpdate('u.')} > g.until_ix ORDER BY 1 LIMIT 1
      ) AS first ORDER BY first.ix LIMIT 1
    ) >= since, true);
  RETURN ${schema}.projection_prune(least(first_kept, first_gap) - 1, max_rows);
END $body$;
`;
}
