import { catchError, concatMap, map, type Observable, of, switchMap } from 'rxjs';
import type { Connection } from '../Connection.js';
import { readSnapshot } from '../contracts/snapshot.js';
import { DatabaseError, explainMissing, type Pool, reportDatabase, rowsOf, withPool } from '../database.js';
import { reportError } from '../failure.js';
import type { Names } from '../Selection.js';
import { firstAnswer, openSession, type Session } from '../Session.js';
import { showText } from '../terminal.js';
import type { World } from '../World.js';

/** Which projection to compare with which contracts. */
interface VerifyOptions extends Connection, Names {
  readonly database: string;
  readonly schema: string;
}

/**
 * `canton-rx project verify`, with the options of `canton-rx project`; emits the exit code, once: 0 if projection and ledger
 * agree, 1 if they do not, 6 if the projection cannot be read.
 */
export const verifyCommand = (options: VerifyOptions, world: World): Observable<number> =>
  openSession(options, world).pipe(
    switchMap((session) => {
      const { database, schema } = options;
      return withPool(database, (pool) => compare(session, pool, schema, options)).pipe(
        map((difference) => report(difference, schema, world)),
        explainMissing(`the schema ${schema} has no projection`, 'canton-rx project creates it'),
        reportDatabase(schema, world),
        catchError((error: unknown) => reportError(error, { ...options, resume: '' }, session)),
      );
    }),
  );

/** How a projection differs from the ledger at one offset. */
interface Difference {
  readonly offset: number;
  readonly count: number;
  /** Contracts of the ledger that the projection lacks. */
  readonly missing: readonly string[];
  /** Contracts of the projection that are not active on the ledger. */
  readonly extra: readonly string[];
  /** Contracts that the projection has more than once. */
  readonly repeated: readonly string[];
}

const compare = (session: Session, pool: Pool, schema: string, names: Names): Observable<Difference> =>
  // one statement: the offset and the contracts of one moment. A contract has a row for its template and for each interface
  rowsOf(
    pool,
    `SELECT "${schema}".latest_offset()::text AS "offset",
      ARRAY(SELECT DISTINCT contract_id FROM "${schema}".active()) AS ids,
      ARRAY(SELECT DISTINCT contract_id FROM "${schema}".active()
        GROUP BY contract_id, payload_type, template_fqn HAVING count(*) > 1) AS repeated`,
  ).pipe(
    concatMap(([row]) => {
      if (typeof row?.['offset'] !== 'string')
        throw new DatabaseError('schema', {
          text: `the first load of the schema ${schema} is not complete`,
          next: 'wait until canton-rx project or the service has caught up',
        });
      const offset = Number(row['offset']);
      const projected = new Set(row['ids'] as readonly string[]);
      const active$ = readSnapshot(session, { ...names, at: offset }, (contracts) =>
        of(new Set(Array.from(contracts, ({ line }) => line.contractId))),
      );
      // an address without a ledger fails at once, and not after the retries of a feed
      return firstAnswer(session).pipe(
        concatMap(() => active$),
        map((active) => ({
          offset,
          count: active.size,
          missing: [...active].filter((id) => !projected.has(id)),
          extra: [...projected].filter((id) => !active.has(id)),
          repeated: row['repeated'] as readonly string[],
        })),
      );
    }),
  );

function report({ offset, count, missing, extra, repeated }: Difference, schema: string, world: World): number {
  const isSame = missing.length === 0 && extra.length === 0 && repeated.length === 0;
  const repetition = repeated.length === 0 ? '' : `, and repeats ${repeated.length}`;
  const lines = [
    ...missing.map((id) => `missing ${id}`),
    ...extra.map((id) => `extra ${id}`),
    ...repeated.map((id) => `repeated ${id}`),
    isSame
      ? `the schema ${schema} has the ${count} active contracts of the ledger at offset ${offset}`
      : `the schema ${schema} lacks ${missing.length} and has ${extra.length} more than the ${count} active contracts of the ledger at offset ${offset}${repetition}`,
  ];
  world.stdout.write(lines.map((line) => `${showText(line)}\n`).join(''));
  return isSame ? 0 : 1;
}
