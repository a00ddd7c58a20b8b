import { access, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './hasCode.js';

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
