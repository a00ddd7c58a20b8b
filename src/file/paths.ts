import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Offset } from '../codecs/scalars.js';

/** The paths for one name. */
export interface Paths {
  /** The file of the cursor. */
  readonly cursor: string;
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
