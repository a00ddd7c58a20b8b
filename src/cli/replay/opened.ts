import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { Offset } from '../../codecs/Offset.js';
import type { Extent } from './Extent.js';
import { extentOf } from './extentOf.js';

/** A file to be written on, and what it has. */
export interface Opened {
  readonly handle: FileHandle;
  readonly extent: Extent;
  /** How many bytes of a torn line were cut off. */
  readonly torn: number;
}

/** Opens a file, makes it if it is missing, and cuts off a last line that is not whole. */
export async function opened(path: string, from: Offset): Promise<Opened> {
  // for its owner alone: it is contents of the ledger
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const extent = await extentOf(handle, path, from);
    const { size } = await handle.stat();
    if (size > extent.bytes) await handle.truncate(extent.bytes);
    return { handle, extent, torn: size - extent.bytes };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
