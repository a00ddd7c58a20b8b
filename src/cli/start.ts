import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  expand,
  filter,
  map,
  type Observable,
  of,
  reduce,
  takeLast,
  throwError,
} from 'rxjs';
import { isLedgerError, type Update } from '../index.js';
import { readInteger, UsageError } from './arguments.js';
import type { startOptions, Values } from './options.js';
import { formatOf, select, type Selection } from './Selection.js';
import type { Session } from './Session.js';

/** Where to start, relative to a time or to the end. Both: where both are met. */
interface RelativeStart {
  /** A record time. Updates of this time and later ones are read. */
  readonly since: string | undefined;
  /** How many of the last updates are read. */
  readonly count: number | undefined;
}

/** The relative start of the arguments; `undefined` without one. Throws a `UsageError`. */
export function readStart(
  { since, count }: Values<typeof startOptions>,
  from: string | undefined,
): RelativeStart | undefined {
  if (since === undefined && count === undefined) return undefined;
  if (from !== undefined) throw new UsageError('--from excludes --since and --count');
  return {
    since: since === undefined ? undefined : readTime(since),
    count: readInteger('count', count, undefined),
  };
}

const unitMs: Readonly<Partial<Record<string, number>>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time in ISO 8601 with a time zone, or before now: `90s`, `10m`, `2h`, `7d`. */
export function readTime(text: string, option = '--since'): string {
  const [, amount, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const [isIso, zone] = isoTime.exec(text) ?? [];
  // the zone of the machine would make the same command mean another time elsewhere
  if (isIso !== undefined && zone === undefined)
    throw new UsageError(
      `${option} must have a time zone, because the ledger has none: such as 2026-11-23T10:00Z or 2026-11-23T10:00+01:00, got '${text}'`,
    );
  // of a text, all digits count
  if (isIso !== undefined && isDate(isIso)) return isIso;
  const time = Date.now() - Number(amount) * (unitMs[unit] ?? 0);
  // not before 1970
  if (time >= 0) return new Date(time).toISOString();
  throw new UsageError(
    `${option} must be a time such as 2026-11-23T10:00:00Z, or 90s, 10m, 2h, 7d before now, got '${text}'`,
  );
}

/** Whether a time exists: the platform takes February 30 for March 2. */
const isDate = (time: string): boolean => {
  const day = Date.parse(time.slice(0, 10));
  return !Number.isNaN(Date.parse(time)) && time.startsWith(new Date(day).toISOString().slice(0, 10));
};

const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** The offset after which a command starts. `end` is the ledger end. */
export const findStart = (
  session: Session,
  selection: Selection,
  { since, count }: RelativeStart,
  end: number,
): Observable<number> =>
  (since === undefined ? of(0) : session.ledger.offsetAt(since, selection)).pipe(
    map((offset) => Math.min(offset, end)),
    // the last updates may all be after what is pruned
    catchError((error: unknown) => (count === undefined ? throwError(() => error) : of(earliestIn(error, 0)))),
    concatMap((floor) => (count === undefined ? of(floor) : offsetOfLast(session, selection, { count, floor, end }))),
  );

/** The updates of a range. A pruned range begins at the earliest offset. */
const updatesIn = (
  { ledger }: Session,
  selection: Selection,
  beginExclusive: number,
  endInclusive: number,
): Observable<Update> =>
  beginExclusive >= endInclusive
    ? EMPTY
    : ledger.updates({ beginExclusive, endInclusive, updateFormat: formatOf(selection) });

/** The earliest offset after which the ledger is not pruned. */
const earliestIn = (error: unknown, asked: number): number => {
  const earliest = isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
  if (earliest === undefined || earliest <= asked) throw error;
  return earliest;
};

/** What a search for the last updates has found. */
interface Window {
  readonly floor: number;
  readonly begin: number;
  /** The offsets of the last updates. */
  readonly found: readonly number[];
}

/** Finds the offset before the last updates of a selection: reads longer and longer ranges before the end. */
const offsetOfLast = (
  session: Session,
  selection: Selection,
  { count, floor, end }: { readonly count: number; readonly floor: number; readonly end: number },
): Observable<number> =>
  defer(() => {
    const read = (span: number, least: number): Observable<Window> => {
      const begin = Math.max(least, end - span);
      return updatesIn(session, selection, begin, end).pipe(
        select(selection),
        filter(({ _tag }) => _tag !== 'OffsetCheckpoint'),
        reduce((last: readonly number[], { offset }) => [...last, offset].slice(-count - 1), []),
        map((found) => ({ floor: least, begin, found })),
        catchError((error: unknown) => of({ floor: earliestIn(error, begin), begin: Infinity, found: [] })),
      );
    };
    const isDone = ({ floor: least, begin, found }: Window): boolean => found.length >= count || begin <= least;
    let span = 2 * count + 8;
    return read(span, floor).pipe(
      expand((window) => (isDone(window) ? EMPTY : read((span *= 4), window.floor))),
      takeLast(1),
      map(({ begin, found }) => (count === 0 ? end : (found.at(-count) ?? begin + 1) - 1)),
    );
  });
