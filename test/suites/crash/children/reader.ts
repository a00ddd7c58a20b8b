import { setTimeout as wait } from 'node:timers/promises';
import { takeWhile } from 'rxjs';
import { natsFeed } from '../../../../src/nats/index.js';
import { processFeed, type Work } from '../../../../src/process/index.js';
import { connectNats, note, orders, markCommits } from './child.js';

const never = new Promise<void>(() => undefined);

/** Sometimes waits after the note, so that kills also occur between the note and the commit. */
const handler = async (update: Work): Promise<void> => {
  if (orders.end === undefined && update.offset === orders.last) return never;
  note(update);
  if (Math.random() < 0.05) await wait(4);
};

const { commitEvery: updates } = orders;
const durable = `reader${updates}`;

void connectNats().then((connection) =>
  processFeed(natsFeed({ connection, stream: 'ledger', durable, ackWaitMs: 200, timeoutMs: 1_000 }), handler, {
    commitEvery: { updates },
    storeRetry: { baseDelayMs: 1, maxDelayMs: 20 },
  })
    .pipe(takeWhile(({ offset }) => offset !== orders.end, true))
    .subscribe(markCommits(() => connection.close())),
);
