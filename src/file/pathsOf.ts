import { join } from 'node:path';
import type { Offset } from '../codecs/Offset.js';
import { fileNameOf } from './fileNameOf.js';

/** Where things of one name are. */
export interface Paths {
  /** The file of its cursor. */
  readonly cursor: string;
  /** The folder of what was put aside. */
  readonly parked: string;
  /** The file of an update that was put aside: as text, the names are in the order of the offsets. */
  readonly parkedAt: (offset: Offset) => string;
}

/** Where a folder has things of a name. */
export function pathsOf(folder: string, name: string): Paths {
  const path = join(folder, fileNameOf(name));
  const parked = `${path}.parked`;
  return {
    cursor: `${path}.json`,
    parked,
    parkedAt: (offset) => join(parked, `${String(offset).padStart(16, '0')}.json`),
  };
}
