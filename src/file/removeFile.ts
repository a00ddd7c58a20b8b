import { access, unlink } from 'node:fs/promises';
import { hasCode } from './hasCode.js';

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
