import { fileStore } from '../../../../src/file/index.js';
import { toldUntil } from './ended.js';
import { ledger, request } from './ledger.js';
import { marked } from './marked.js';
import { note } from './note.js';
import { orders } from './orders.js';

ledger
  .process(request, note, {
    name: 'notes',
    store: marked(fileStore(orders.storeUrl)),
    commitEvery: { updates: orders.commitEvery },
    retry: { baseDelayMs: 1, maxDelayMs: 20 },
  })
  .subscribe(toldUntil(() => undefined));
