import { writeSync } from 'node:fs';
import { createHash } from 'node:crypto';
import type { Work } from '../../../../src/process/ProcessOptions.js';

/** What a process is doing, each told by one letter. The last letter is still told when the process is killed. */
export const phases = {
  h: 'hold',
  l: 'load',
  b: 'begin',
  u: 'handler',
  s: 'save',
  c: 'commit',
  d: 'committed',
} as const;
export type Mark = keyof typeof phases;

/** Tells at once, in the same call: nothing is left in a buffer when the process is killed. */
export const mark = (letter: Mark, times = 1): void => {
  writeSync(1, letter.repeat(times));
};

/** What an update contains, so that it can be compared. */
export const hashOf = (update: Work): string => createHash('sha256').update(JSON.stringify(update)).digest('hex');

/** The id of an update; the sandbox makes none without. */
export const idOf = (update: Work): string => ('updateId' in update ? update.updateId : '');
