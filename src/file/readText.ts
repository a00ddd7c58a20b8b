import { access, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './hasCode.js';

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
