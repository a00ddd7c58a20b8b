import { natsRelay } from '../../../../src/nats/index.js';
import { toldUntil } from './ended.js';
import { ledger, request } from './ledger.js';
import { marked } from './marked.js';
import { mark } from './marks.js';
import { connected } from './nats.js';
import { orders } from './orders.js';

void connected().then((connection) => {
  const { handler, store } = natsRelay({ connection, stream: 'ledger', timeoutMs: 1_000 });
  return ledger
    .process(
      request,
      (updates, tx) => {
        mark('u', updates.length);
        return handler(updates, tx);
      },
      {
        name: 'relay',
        store: marked(store),
        batch: { size: orders.commitEvery, withinMs: 0 },
        handlerRetry: { baseDelayMs: 1, maxDelayMs: 20 },
        retry: { baseDelayMs: 1, maxDelayMs: 20 },
      },
    )
    .subscribe(toldUntil(() => connection.close()));
});
