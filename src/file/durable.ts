import { randomBytes } from 'node:crypto';
import { access, mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Paths } from './paths.js';

/** What platforms say that cannot open folders, and file systems that cannot sync them. */
const unable = ['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'];

/** Makes what was renamed in a folder, or removed from it, outlast a loss of power, as far as the platform can. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!hasCode(error, ...unable)) throw error;
  }
}

/** As `replaceFile` calls what is not a whole file yet. */
const temporary = /\.json\.[0-9a-f]{16}\.tmp$/;

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

/** The text of a file; `undefined` where its folder has none. A folder that is missing itself, a disk perhaps, is an error. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await access(dirname(file));
    return undefined;
  }
}

/** Removes a file, and says whether it was there. `base` must be, or nothing can be said. */
export async function removeFile(file: string, base: string): Promise<boolean> {
  try {
    await unlink(file);
    return true;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await access(base);
    return false;
  }
}

/** The files of a folder, by name; none where it was never made. What it is in must be there. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await access(dirname(folder));
    return [];
  }
}

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

/** Whether an error has one of these codes of the operating system. */
const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && codes.some((code) => code === error.code);
