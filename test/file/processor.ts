import { appendFileSync } from 'node:fs';
import { argv } from 'node:process';
import { timer } from 'rxjs';
import { fileStore } from '../../src/file/index.js';
import { acsDelta, createLedger } from '../../src/index.js';
import { processFeed, updatesFeed } from '../../src/process/index.js';

/**
 * A process that handles the updates of a ledger under the name `a`, and adds a line to a file when it begins and when it
 * ends to handle one.
 */
const [, , baseUrl = '', folder = '', log = '', label = ''] = argv;
const feed = updatesFeed(createLedger({ baseUrl }), { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
const add = (event: string): void => {
  appendFileSync(log, `${label} ${event}\n`);
};
processFeed(
  feed,
  async ({ offset }) => {
    add(`begins ${offset}`);
    await timer(5).forEach(() => undefined);
    add(`ends ${offset}`);
  },
  { name: 'a', store: fileStore(folder), commitEvery: { updates: 3 } },
).subscribe();
add('waits');
