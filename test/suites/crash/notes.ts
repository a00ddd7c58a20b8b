import { readFile } from 'node:fs/promises';
import type { Taken } from './flawsOf.js';

/** What handlers have noted, in order. */
export async function notesIn(file: string): Promise<readonly Taken[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  // the last line has an end as well
  if (lines.pop() !== '') throw new Error('a note was torn');
  return lines.map((line) => {
    const [life, offset, updateId = '', hash = ''] = line.split(' ');
    return { life: Number(life), offset: Number(offset), updateId, hash };
  });
}
