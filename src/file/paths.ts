import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Offset } from '../codecs/scalars.js';

/** Where things of one name are. */
export interface Paths {
  /** The file of its cursor. */
  readonly cursor: string;
  /** The folder of what was put aside. */
  readonly parked: string;
  /** The file of an update that was put aside: as text, the names are in the order of the offsets. */
  readonly parkedAt: (offset: Offset) => string;
}

/** Windows opens devices under these names, whatever the ending. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** Some file systems take 143 characters and no more; endings follow. */
const longest = 100;

/**
 * The name as a file may be called, without an ending: each name its own, on file systems that do not tell case as well.
 * It has no dot, and of letters the lower ones alone. Of a name that is too long, the begin and a hash.
 */
export function fileNameOf(name: string): string {
  const escaped = name.replace(/[^a-z0-9_-]/g, escapeOf).replace(device, (found) => escapeOf(found) + found.slice(1));
  if (escaped.length > longest) return `${escaped.slice(0, 30)}%-${hashOf(name)}`;
  // `%` by itself, and `%-`, are no escapes
  return escaped === '' ? '%' : escaped;
}

/** The first of the code units, not the code point: halves of pairs are told apart too. */
const escapeOf = (text: string): string => {
  const unit = text.charCodeAt(0);
  return unit < 0x100 ? `%${unit.toString(16).padStart(2, '0')}` : `%u${unit.toString(16).padStart(4, '0')}`;
};

const hashOf = (name: string): string => createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex');

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
