import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './hasCode.js';
import { syncFolder } from './syncFolder.js';

/** Makes a folder for its owner alone, unless it is there; not what it is in. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  // also one that is there: who made it may have got no further
  await syncFolder(dirname(folder));
}
