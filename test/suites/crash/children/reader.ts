import { setTimeout as wait } from 'node:timers/promises';
import { takeWhile } from 'rxjs';
import { natsUpdates } from '../../../../src/nats/index.js';
import type { Work } from '../../../../src/process/ProcessOptions.js';
import { connectNats, note, orders, markCommits } from './child.js';

const never = new Promise<void>(() => undefined);

/** Sometimes waits after the note, so that kills also occur between the note and the acknowledgement. */
const handler = async (update: Work): Promise<void> => {
  if (orders.end === undefined && update.offset === orders.last) return never;
  note(update);
  if (Math.random() < 0.05) await wait(4);
};

void connectNats().then((connection) =>
  natsUpdates({ connection, stream: 'ledger', durable: 'reader', ackWaitMs: 200, timeoutMs: 1_000 }, handler)
    .pipe(takeWhile(({ offset }) => offset !== orders.end, true))
    .subscribe(markCommits(() => connection.close())),
);
