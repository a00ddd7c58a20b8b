import { plain } from '../text/plain.js';

/** An id with the begin of its fingerprint: enough to tell it from others. */
export function shortened(id: string): string {
  const [name = '', fingerprint] = id.split('::');
  const begin = fingerprint === undefined ? '' : `::${fingerprint.slice(0, 12)}…`;
  return plain(`${name.slice(0, 60)}${begin}`);
}
