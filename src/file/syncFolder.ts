import { open } from 'node:fs/promises';
import { hasCode } from './hasCode.js';

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
