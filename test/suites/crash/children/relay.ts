import { processFeed, updatesFeed } from '../../../../src/process/index.js';
import { natsRelay } from '../../../../src/nats/index.js';
import { connectNats, openLedger, orders, request, markCommits } from './child.js';
import { mark, markStore } from './marks.js';

void connectNats().then((connection) => {
  const { handler, store } = natsRelay({ connection, stream: 'ledger', timeoutMs: 1_000 });
  return processFeed(
    updatesFeed(openLedger(), request),
    (updates, tx) => {
      mark('u', updates.length);
      return handler(updates, tx);
    },
    {
      name: 'relay',
      store: markStore(store),
      batch: { size: orders.commitEvery, withinMs: 0 },
      handlerRetry: { baseDelayMs: 1, maxDelayMs: 20 },
      storeRetry: { baseDelayMs: 1, maxDelayMs: 20 },
    },
  ).subscribe(markCommits(() => connection.close()));
});
