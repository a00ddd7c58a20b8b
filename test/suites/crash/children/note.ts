import { openSync, writeSync } from 'node:fs';
import type { Work } from '../../../../src/process/ProcessOptions.js';
import { hashOf, idOf, mark } from './marks.js';
import { orders } from './orders.js';

const file = openSync(orders.notes ?? '', 'a');

/** Notes an update at the end of a file, by one write: as a whole or not at all, and at once. */
export const note = (update: Work): void => {
  mark('u');
  writeSync(file, `${orders.life} ${update.offset} ${idOf(update)} ${hashOf(update)}\n`);
};
