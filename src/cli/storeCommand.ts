import { catchError, concatMap, endWith, type Observable, of, throwError } from 'rxjs';
import type { Offset } from '../index.js';
import { explainDatabaseError } from '../postgres/databaseErrors.js';
import { parseOptions, readInteger, UsageError } from './arguments.js';
import { writeAll } from './output.js';
import { DatabaseError, type Pool, readDatabase, readSchema, withPool } from './project/database.js';
import { escapeText } from './text.js';
import { errorLine, type World } from './World.js';

export const text = { type: 'string' } as const;
export const nameOption = { name: text };
const storeOptions = { database: text, schema: text };

type Values = Readonly<Partial<Record<'name' | 'after' | 'offset' | 'update' | 'database' | 'schema', string>>>;

export function required(option: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new UsageError(`--${option} is required`);
  return value;
}

export const readOffset = (offset: string | undefined, option = 'offset'): Offset =>
  readInteger(option, required(option, offset), 0, Number.MAX_SAFE_INTEGER);

/** The tables of a `postgresStore`. */
export interface Store {
  readonly pool: Pool;
  readonly schema: string;
}

/** Lines to print, or why nothing was done. */
export type Result = Observable<readonly string[]>;

/** Works with the store that the options name, prints the result and emits the exit code. */
export function withStore(
  args: readonly string[],
  world: World,
  options: Readonly<Partial<Record<keyof Values, typeof text>>>,
  work: (store: Store, values: Values) => Result,
): Observable<number> {
  const values = parseOptions(args, { ...storeOptions, ...options }) as Values;
  const { database } = readDatabase(values.database, world.env['CANTON_RX_DATABASE_URL']);
  const schema = readSchema(values.schema ?? 'public');
  return withPool(database, (pool) => work({ pool, schema }, values)).pipe(
    concatMap((lines) =>
      writeAll(
        world.stdout,
        lines.map((line) => `${line}\n`),
      ),
    ),
    endWith(0),
    catchError((error: unknown) => {
      const trouble = error instanceof DatabaseError ? error.trouble : explainDatabaseError(error, schema);
      if (trouble === undefined) return throwError(() => error);
      const { text: what, next } = trouble;
      world.stderr.write(errorLine(escapeText(next === undefined ? what : `${what}; ${next}`)));
      return of(error instanceof DatabaseError && error.label === 'processor' ? 1 : 6);
    }),
  );
}

/** A line of cells. */
export const cells = (...values: readonly unknown[]): string =>
  values.map((value) => escapeText(String(value))).join('\t');

/** Why nothing is done. */
export const refusal = (what: string, next: string): DatabaseError =>
  new DatabaseError('processor', { text: what, next });
