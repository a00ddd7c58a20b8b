import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from './syncFolder.js';

/**
 * Writes a file as a whole or not at all: the text is on the disk before it takes the file's name. When it fails, the
 * file is what it was; unless what fails comes after the renaming: then it may be either.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  // a name of its own: that of another process that writes at the same time would be torn
  const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    await writeSynced(temporary, text);
    await rename(temporary, file);
  } catch (error) {
    // what cannot be removed now is swept later
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(file));
}

async function writeSynced(file: string, text: string): Promise<void> {
  // for the owner alone: what is put aside is contents of the ledger
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
