import { catchError, concatMap, map, type Observable, of, reduce, switchMap, throwError } from 'rxjs';
import { isLedgerError } from '../../index.js';
import { activeContracts, type ContractEntry } from '../../contracts/index.js';
import { type DatabaseTrouble, explainDatabaseError } from '../../postgres/databaseErrors.js';
import { parseOptions } from '../arguments.js';
import { connectionOptions, readConnection } from '../Connection.js';
import { interruptedCode, reportEnd } from '../failure.js';
import { settle } from '../output.js';
import { type Names, nameOptions, queryOf, readNames } from '../Selection.js';
import { firstAnswer, openSession, type Session } from '../Session.js';
import { escapeText } from '../text.js';
import { errorLine, type World } from '../World.js';
import { DatabaseError, type Pool, readDatabase, readSchema, rowsOf, withPool } from './database.js';

/**
 * `canton-rx project verify`; emits the exit code, once: 0 if projection and ledger agree, 1 if they do not, 6 if the
 * projection cannot be read.
 */
export function verifyCommand(args: readonly string[], world: World): Observable<number> {
  const values = parseOptions(args, {
    ...connectionOptions,
    ...nameOptions,
    database: { type: 'string' },
    schema: { type: 'string' },
  });
  const connection = readConnection(values, world.env);
  const { database } = readDatabase(values.database, world.env['CANTON_RX_DATABASE_URL']);
  const schema = readSchema(values.schema ?? 'contracts');
  const names = readNames(values, connection.contextParties);
  return openSession(connection, world).pipe(
    switchMap((session) => {
      let difference: Difference | undefined;
      const compared$ = withPool(database, (pool) => compare(session, pool, schema, names)).pipe(
        map((found) => {
          difference = found;
        }),
        catchError((error: unknown) => {
          const trouble = databaseTrouble(error, schema);
          if (trouble === undefined) return throwError(() => error);
          world.stderr.write(errorLine(escapeText([trouble.text, trouble.next].filter(Boolean).join('; '))));
          return of(undefined);
        }),
      );
      return settle(compared$).pipe(
        switchMap((outcome) => {
          if (outcome.kind !== 'failed') return of(difference === undefined ? 6 : report(difference, schema, world));
          const texts = { done: '', interrupted: '', interruptedCode };
          return reportEnd(outcome, texts, { ...names, resume: '' }, session);
        }),
      );
    }),
  );
}

/** Why the database cannot be used; `undefined` for an error of the ledger, which may have the same codes. */
function databaseTrouble(error: unknown, schema: string): DatabaseTrouble | undefined {
  if (error instanceof DatabaseError) return error.trouble;
  return isLedgerError(error) ? undefined : explainDatabaseError(error, schema);
}

/** How a projection differs from the ledger at one offset. */
interface Difference {
  readonly offset: number;
  readonly count: number;
  /** Contracts of the ledger that the projection lacks. */
  readonly missing: readonly string[];
  /** Contracts of the projection that are not active on the ledger. */
  readonly extra: readonly string[];
}

const compare = (session: Session, pool: Pool, schema: string, names: Names): Observable<Difference> =>
  // one statement: the offset and the contracts of one moment
  rowsOf(
    pool,
    `SELECT "${schema}".latest_offset()::text AS "offset",
      ARRAY(SELECT DISTINCT contract_id FROM "${schema}".active()) AS ids`,
    [],
  ).pipe(
    concatMap(([row]) => {
      if (typeof row?.['offset'] !== 'string')
        throw new DatabaseError('schema', {
          text: `the first load of the schema ${schema} is not complete`,
          next: 'wait until canton-rx project or the service has caught up',
        });
      const offset = Number(row['offset']);
      const projected = new Set((row['ids'] ?? []) as readonly string[]);
      const active$ = activeContracts(session.ledger, { ...queryOf(names), activeAtOffset: offset }).pipe(
        reduce((ids, entry) => {
          const id = contractIdOf(entry);
          return id === undefined ? ids : ids.add(id);
        }, new Set<string>()),
      );
      // an address without a ledger fails at once, and not after the retries of a feed
      return firstAnswer(session).pipe(
        concatMap(() => active$),
        map((active) => ({
          offset,
          count: active.size,
          missing: [...active].filter((id) => !projected.has(id)),
          extra: [...projected].filter((id) => !active.has(id)),
        })),
      );
    }),
  );

function contractIdOf(entry: ContractEntry): string | undefined {
  if (entry._tag === 'IncompleteAssigned') return entry.assignedEvent.createdEvent.contractId;
  return entry._tag === 'UnknownContractEntry' ? undefined : entry.createdEvent.contractId;
}

function report({ offset, count, missing, extra }: Difference, schema: string, world: World): number {
  const isSame = missing.length === 0 && extra.length === 0;
  const lines = [
    ...missing.map((id) => `missing ${id}`),
    ...extra.map((id) => `extra ${id}`),
    isSame
      ? `the schema ${schema} has the ${count} active contracts of the ledger at offset ${offset}`
      : `the schema ${schema} lacks ${missing.length} and has ${extra.length} more than the ${count} active contracts of the ledger at offset ${offset}`,
  ];
  world.stdout.write(lines.map((line) => `${escapeText(line)}\n`).join(''));
  return isSame ? 0 : 1;
}
