import { concatMap, endWith, map, type Observable } from 'rxjs';
import { commandOutbox } from '../postgres/index.js';
import { parseOptions, readInteger, UsageError } from './arguments.js';
import {
  DatabaseError,
  databaseOptions,
  explainMissing,
  type Pool,
  readDatabase,
  reportDatabase,
  rowsOf,
  withPool,
} from './database.js';
import { escapeText, showText } from './terminal.js';
import { type World, writeAll } from './World.js';

/** The options of one action or the other. */
const options = { name: { type: 'string' }, id: { type: 'string' }, forget: { type: 'boolean' } } as const;

/** The outbox, and what the options say. */
interface Request {
  readonly pool: Pool;
  readonly schema: string;
  readonly name: string | undefined;
  readonly id: string | undefined;
  readonly forget: boolean;
}

/** Lines to print. */
type Result = Observable<readonly string[]>;

/** `canton-rx outbox list | retry | drop`; emits the exit code, once. */
export function outboxCommand([action, ...args]: readonly string[], world: World): Observable<number> {
  switch (action) {
    case 'list':
      return withOutbox(args, world, ['name'], list);
    case 'retry':
      return withOutbox(args, world, ['name', 'id', 'forget'], retry);
    case 'drop':
      return withOutbox(args, world, ['name', 'id'], drop);
    default:
      throw new UsageError('outbox requires list, retry or drop first (canton-rx outbox --help)');
  }
}

/** Works with the outbox that the options name, prints the result and emits the exit code. */
function withOutbox(
  args: readonly string[],
  world: World,
  names: readonly (keyof typeof options)[],
  work: (request: Request) => Result,
): Observable<number> {
  const own = Object.fromEntries(names.map((name) => [name, options[name]] as const)) as Partial<typeof options>;
  const values = parseOptions(args, { ...databaseOptions, ...own });
  const { name, id, forget = false } = values as { name?: string; id?: string; forget?: boolean };
  const { database, schema } = readDatabase(values, world.env, 'public');
  return withPool(database, (pool) => work({ pool, schema, name, id, forget })).pipe(
    concatMap((lines) => writeAll(world.stdout, [[...lines, ''].join('\n')])),
    endWith(0),
    explainMissing(`the schema ${schema} has no outbox`, 'an outbox creates its tables with its first command'),
    reportDatabase(schema, world),
  );
}

/** The commands that are not done: what waits, is due, is being sent, or waits for a person. */
const list = ({ pool, schema, name }: Request): Result =>
  rowsOf(
    pool,
    `SELECT name, format('id %s', id) AS id, command_id, coalesce('key ' || key, 'no key') AS key,
      CASE WHEN state = 'parked' THEN 'parked' WHEN retry_at > now() THEN 'waiting'
        WHEN may_be_committed AND retry_at IS NULL THEN 'running' ELSE 'due' END AS state,
      format('failures %s', failures) AS failures,
      to_char(enqueued_at AT TIME ZONE 'UTC', '"enqueued" YYYY-MM-DD"T"HH24:MI:SS"Z"') AS enqueued,
      CASE WHEN may_be_committed THEN 'may be committed' ELSE 'not committed' END AS outcome,
      coalesce('decided by ' || decide, 'no decision') AS decision, coalesce(reason, '') AS reason, coalesce(left(error, 200), '') AS error
    FROM "${schema}".canton_rx_outbox AS c
    WHERE state IN ('pending', 'parked') AND ($1::text IS NULL OR name = $1) ORDER BY name, c.id`,
    [name ?? null],
  ).pipe(
    map((rows) =>
      rows.map((row) =>
        Object.values(row)
          .map((cell) => showText(String(cell)))
          .join('\t'),
      ),
    ),
  );

const retry = (request: Request): Result => {
  const { id, name, outbox } = one(request);
  return outbox
    .retry(id, { forget: request.forget })
    .pipe(
      map((isDone) => done(isDone, `command ${id} of ${name} is sent again`, `command ${id} of ${name} is not parked`)),
    );
};

const drop = (request: Request): Result => {
  const { id, name, outbox } = one(request);
  return outbox
    .drop(id)
    .pipe(map((isDone) => done(isDone, `dropped command ${id} of ${name}`, `${name} has no command ${id} that waits`)));
};

/** The outbox and the number of one command of it. */
function one({ pool, schema, name = 'commands', id }: Request) {
  if (id === undefined) throw new UsageError('--id is required');
  const outbox = commandOutbox({ pool, schema, name, createTables: false });
  return { id: readInteger('id', id, 1), name: escapeText(name), outbox };
}

function done(isDone: boolean, text: string, refusal: string): readonly string[] {
  if (!isDone) throw new DatabaseError('processor', { text: refusal, next: 'see canton-rx outbox list' });
  return [text];
}
