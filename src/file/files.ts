import { createHash, randomBytes } from 'node:crypto';
import { access, mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Offset } from '../codecs/scalars.js';

/** The paths for one name. */
export interface Paths {
  /** The file of the cursor. */
  readonly cursor: string;
  /** The file that is locked on systems with locks of files. */
  readonly lock: string;
  /** The folder of the parked updates. */
  readonly parked: string;
  /** The file of a parked update. File names sort in the order of the offsets. */
  readonly parkedAt: (offset: Offset) => string;
}

/** Returns the paths for a name in a folder. */
export function pathsOf(folder: string, name: string): Paths {
  const path = join(folder, fileNameOf(name));
  const parked = `${path}.parked`;
  return {
    cursor: `${path}.json`,
    lock: `${path}.lock`,
    parked,
    parkedAt: (offset) => join(parked, `${String(offset).padStart(16, '0')}.json`),
  };
}

/** Names of devices on Windows, with any extension. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** The maximum length of a file name without its extension. Some file systems allow 143 characters at most. */
const maxLength = 100;

/**
 * Returns the name as a file name without an extension. Different names get different file names, even on file systems
 * that ignore case. The result has no dot and no upper-case letter. A name that is too long is replaced by its
 * beginning and a hash.
 */
function fileNameOf(name: string): string {
  const escaped = name
    .replace(/[^a-z0-9_-]/g, escapeFirst)
    .replace(device, (found) => escapeFirst(found) + found.slice(1));
  if (escaped.length > maxLength) return `${escaped.slice(0, 30)}%-${hashOf(name)}`;
  // neither `%` alone nor `%-` is an escape, so no other name gets the same result
  return escaped === '' ? '%' : escaped;
}

/** Escapes the first code unit of a text. Not the code point, so that different surrogates stay different. */
const escapeFirst = (text: string): string => {
  const unit = text.charCodeAt(0);
  return unit < 0x100 ? `%${unit.toString(16).padStart(2, '0')}` : `%u${unit.toString(16).padStart(4, '0')}`;
};

const hashOf = (name: string): string => createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex');

/**
 * Writes a file completely or not at all: the text is on disk before the file gets its name. After a failure the file
 * is unchanged; if the failure comes after the renaming, the file has either text.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  // random, because two processes that write the same temporary file would mix their texts
  const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    await writeSynced(temporary, text);
    await rename(temporary, file);
  } catch (error) {
    // a temporary file that cannot be removed now is removed by a later sweep
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(file));
}

async function writeSynced(file: string, text: string): Promise<void> {
  // readable by the owner only, because parked updates are ledger contents
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The error codes of platforms that cannot open folders, and of file systems that cannot sync them. */
const syncUnsupported = ['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'];

/** Makes a renaming or removal in a folder durable across a power loss, if the platform can. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!hasCode(error, ...syncUnsupported)) throw error;
  }
}

/** Creates a folder for its owner only, unless it exists. Does not create its parent. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  // even if it exists: the process that created it may have ended before the sync
  await syncFolder(dirname(folder));
}

/**
 * Resolves to the text of a file, or to `undefined` if its folder has no such file. Rejects if the folder is missing,
 * for example on an unmounted disk.
 */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await access(dirname(file));
    return undefined;
  }
}

/** Removes a file, and returns whether it existed. Rejects if `base` does not exist. */
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

/**
 * Resolves to the files of a folder, sorted by name, or to none if the folder does not exist. Rejects if its parent
 * does not exist.
 */
export async function filesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await access(dirname(folder));
    return [];
  }
}

/** The temporary files of `replaceFile`. */
const temporaryFile = /\.json\.[0-9a-f]{16}\.tmp$/;

/**
 * Removes the temporary files of a process that ended while it was writing. If another process is writing at this
 * moment, its save fails and changes nothing.
 */
export async function sweep({ cursor, parked }: Paths): Promise<void> {
  const folder = dirname(cursor);
  const prefix = `${basename(cursor)}.`;
  const temporary = [
    ...(await readdir(folder)).filter((file) => file.startsWith(prefix)).map((file) => join(folder, file)),
    ...(await filesIn(parked)).map((file) => join(parked, file)),
  ].filter((file) => temporaryFile.test(file));
  // a file that cannot be removed does no harm
  await Promise.allSettled(temporary.map((file) => rm(file)));
}

/** Whether an error has one of these codes, such as `ENOENT`. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && codes.some((code) => code === error.code);
