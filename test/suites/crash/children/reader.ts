import { setTimeout as wait } from 'node:timers/promises';
import { takeWhile } from 'rxjs';
import { natsUpdates } from '../../../../src/nats/index.js';
import type { Work } from '../../../../src/process/ProcessOptions.js';
import { toldUntil } from './ended.js';
import { connected } from './nats.js';
import { note } from './note.js';
import { orders } from './orders.js';

const stand = new Promise<void>(() => undefined);

/** Some take their time behind the note, so that a kill finds them between it and the acknowledgement. */
const handler = async (update: Work): Promise<void> => {
  if (orders.end === undefined && update.offset === orders.last) return stand;
  note(update);
  if (Math.random() < 0.05) await wait(4);
};

void connected().then((connection) =>
  natsUpdates({ connection, stream: 'ledger', durable: 'reader', ackWaitMs: 200, timeoutMs: 1_000 }, handler)
    .pipe(takeWhile(({ offset }) => offset !== orders.end, true))
    .subscribe(toldUntil(() => connection.close())),
);
