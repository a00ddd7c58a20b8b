import { open } from 'node:fs/promises';
import { hasCode } from '../hasCode.js';
import type { Account } from './Account.js';
import { accountPath } from './accountPath.js';
import { extentOf } from './extentOf.js';
import { FileRefusedError } from './FileRefusedError.js';

/** Makes sure that a complete file is what it was when it became complete. */
export async function checkComplete(path: string, { from, complete }: Account): Promise<void> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new FileRefusedError(`${path} is gone, which was complete: remove ${accountPath(path)} to begin anew`);
  });
  try {
    const { size } = await handle.stat();
    const { hash } = await extentOf(handle, path, from);
    if (size === complete?.bytes && hash.digest('hex') === complete.sha256) return;
  } finally {
    await handle.close();
  }
  throw new FileRefusedError(
    `${path} has changed since it was complete: remove it and ${accountPath(path)} to begin anew`,
  );
}
