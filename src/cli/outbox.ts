import { catchError, concatMap, map, type Observable, of } from 'rxjs';
import { commandOutbox } from '../postgres/index.js';
import { readInteger } from './arguments.js';
import { explainUnanswered } from './change.js';
import { rowsOf } from './database.js';
import { pasted, refusal, required, type Result, type Store, storeCommand, tableOf } from './store.js';
import { escapeText } from './terminal.js';

/** `canton-rx outbox list | retry | drop`; emits the exit code, once. */
export const outboxCommand = storeCommand(
  'outbox',
  ['no outbox', 'an outbox creates its tables with its first command'],
  {
    list: [['name'], list],
    retry: [['name', 'id', 'forget'], retry],
    drop: [['name', 'id'], drop],
  },
);

/** The commands that are not done: what waits, is due, is being sent, or waits for a person. */
function list({ pool, schema, values: { name } }: Store): Result {
  return tableOf(
    pool,
    `SELECT name, format('id %s', id) AS id, command_id, coalesce('key ' || key, 'no key') AS key,
      CASE WHEN state = 'parked' THEN 'parked' WHEN may_be_committed AND retry_at IS NULL THEN 'running'
        WHEN retry_at > now() OR EXISTS (SELECT FROM "${schema}".canton_rx_outbox AS earlier WHERE earlier.name = c.name
          AND earlier.key = c.key AND earlier.id < c.id AND earlier.state IN ('pending', 'parked')) THEN 'waiting'
        ELSE 'due' END AS state,
      format('failures %s', failures) AS failures,
      to_char(enqueued_at AT TIME ZONE 'UTC', '"enqueued" YYYY-MM-DD"T"HH24:MI:SS"Z"') AS enqueued,
      CASE WHEN may_be_committed THEN 'may be committed' ELSE 'not committed' END AS outcome,
      coalesce('decided by ' || decide, 'no decision') AS decision, coalesce(reason, '') AS reason, coalesce(left(error, 200), '') AS error
    FROM "${schema}".canton_rx_outbox AS c
    WHERE state IN ('pending', 'parked') AND ($1::text IS NULL OR name = $1) ORDER BY name, c.id`,
    [name ?? null],
  );
}

function retry(store: Store): Result {
  const { id, name, outbox } = one(store);
  const { forget = false } = store.values;
  return change(store, () => outbox.retry(id, { forget })).pipe(
    map((isDone) =>
      done(store, isDone, `command ${id} of ${name} is sent again`, `command ${id} of ${name} is not parked`),
    ),
  );
}

function drop(store: Store): Result {
  const { id, name, outbox } = one(store);
  return change(store, () => outbox.drop(id)).pipe(
    map((isDone) => done(store, isDone, `dropped command ${id} of ${name}`, `${name} has no command ${id} that waits`)),
    concatMap((lines) => warningOf(store, id).pipe(map((warnings) => [...lines, ...warnings]))),
  );
}

/** What to do before a dropped command is replaced by hand; nothing for one that was not sent. */
const warningOf = ({ pool, schema }: Store, id: number): Observable<readonly string[]> =>
  rowsOf(pool, `SELECT command_id FROM "${schema}".canton_rx_outbox WHERE id = $1 AND may_be_committed`, [id]).pipe(
    map((rows) => rows.map((row) => warning(`its command id ${escapeText(String(row['command_id']))}`))),
    // it is dropped, and nothing shows that it was not sent
    catchError(() => of([warning('it')])),
  );

const warning = (what: string): string =>
  `it may be committed: look for ${what} in the ledger before you do the same in another way`;

/** Changes a command. A database that cannot be reached has changed nothing: only a later failure leaves that open. */
const change = ({ pool, schema }: Store, work: () => Observable<boolean>): Observable<boolean> =>
  rowsOf(pool, 'SELECT 1').pipe(concatMap(() => work().pipe(explainUnanswered(pasted('outbox list', schema)))));

/** The outbox and the number of one command of it. */
function one({ pool, schema, values }: Store) {
  const { name = 'commands' } = values;
  const id = readInteger('id', required(values, 'id'), 1);
  return { id, name: escapeText(name), outbox: commandOutbox({ pool, schema, name, createTables: false }) };
}

function done({ schema }: Store, isDone: boolean, text: string, reason: string): readonly string[] {
  if (!isDone) throw refusal(reason, `see ${pasted('outbox list', schema)}`);
  return [text];
}
