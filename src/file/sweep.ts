import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { filesIn } from './filesIn.js';
import type { Paths } from './pathsOf.js';

/** As `replaceFile` calls what is not a whole file yet. */
const temporary = /\.json\.[0-9a-f]{16}\.tmp$/;

/**
 * Removes what a process left that ended while it wrote. Where another one is writing right now, its save fails and
 * changes nothing.
 */
export async function sweep({ cursor, parked }: Paths): Promise<void> {
  const folder = dirname(cursor);
  const begin = `${basename(cursor)}.`;
  const left = [
    ...(await readdir(folder)).filter((file) => file.startsWith(begin)).map((file) => join(folder, file)),
    ...(await filesIn(parked)).map((file) => join(parked, file)),
  ].filter((file) => temporary.test(file));
  // they do no harm where they stay
  await Promise.allSettled(left.map((file) => rm(file)));
}
