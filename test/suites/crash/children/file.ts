import { processFeed, updatesFeed } from '../../../../src/process/index.js';
import { fileStore } from '../../../../src/file/index.js';
import { openLedger, note, orders, request, markCommits } from './child.js';
import { markStore } from './marks.js';

processFeed(updatesFeed(openLedger(), request), note, {
  name: 'notes',
  store: markStore(fileStore(orders.storeUrl)),
  commitEvery: { updates: orders.commitEvery },
  storeRetry: { baseDelayMs: 1, maxDelayMs: 20 },
}).subscribe(markCommits(() => undefined));
