import { Pool } from 'pg';
import { catchError, defer, EMPTY, filter, ignoreElements, map, merge, NEVER, repeat, takeUntil, timer } from 'rxjs';
import type { Command } from '../../../../src/index.js';
import { commandOutbox } from '../../../../src/postgres/index.js';
import { markCommits, openLedger, orders } from './child.js';
import { mark } from './marks.js';

const { storeUrl, life, end, party = '' } = orders;
const pool = new Pool({ connectionString: storeUrl, application_name: `life ${life}`, max: 4 });
pool.on('error', () => undefined);
const outbox = commandOutbox({ pool });

/** How often a process decides on a command, in milliseconds. */
const everyMs = 40;

let decisions = 0;

const assetOf = (serial: unknown): Command => ({
  CreateCommand: {
    templateId: '#sandbox-assets:Main:Asset',
    createArguments: { owner: party, amount: '1.0', serial: String(serial) },
  },
});

/** Decides on a command, and enqueues it in the transaction of the decision. A third is rolled back. */
async function decide(): Promise<void> {
  decisions += 1;
  const commandId = `${life}-${decisions}`;
  const tx = await pool.connect();
  tx.on('error', () => undefined);
  try {
    mark('b');
    await tx.query('BEGIN');
    await tx.query('INSERT INTO decisions (command_id) VALUES ($1)', [commandId]);
    const fixed = { actAs: [party], userId: 'app', commandId } as const;
    // the content of a third is decided only when it is sent
    const request =
      decisions % 3 === 0
        ? { ...fixed, decide: 'asset', argument: decisions }
        : { ...fixed, commands: [assetOf(decisions)] };
    const key = `key ${decisions % 4}`;
    await outbox.enqueue(tx, request, decisions % 5 === 0 ? {} : { key });
    mark('s');
    await tx.query(Math.random() < 0.3 ? 'ROLLBACK' : 'COMMIT');
    mark('c');
  } finally {
    tx.release(true);
  }
}

const deciding$ = defer(decide).pipe(
  // the database is down
  catchError(() => EMPTY),
  ignoreElements(),
  repeat({ delay: everyMs }),
);

const ledger = openLedger();
const sending$ = outbox.submitAll(
  {
    ...ledger,
    submitAndWaitForTransaction: (...args) =>
      defer(() => {
        mark('u');
        return ledger.submitAndWaitForTransaction(...args);
      }),
  },
  {
    pollMs: 20,
    retry: { baseDelayMs: 20, maxDelayMs: 200 },
    recover: { withinMs: 2_000 },
    decide: { asset: (serial) => timer(5 * Math.random()).pipe(map(() => assetOf(`${String(serial)}${life}`))) },
  },
);

/** Emits when each command has an outcome. */
const settled$ = defer(() => pool.query("SELECT FROM canton_rx_outbox WHERE state = 'pending' LIMIT 1")).pipe(
  repeat({ delay: 50 }),
  filter(({ rows }) => rows.length === 0),
);

merge(end === undefined ? deciding$ : EMPTY, sending$)
  .pipe(takeUntil(end === undefined ? NEVER : settled$))
  .subscribe(markCommits(() => pool.end()));
