import type { Cursor } from './Cursor.js';
import { undecodable } from './undecodable.js';

/** A template or interface identifier: always three parts. */
export function readIdentifier(cursor: Cursor): string {
  const identifier = cursor.string();
  if (/^#?[^:#]+:[^:]+:[^:]+$/.test(identifier)) return identifier;
  const expected = 'not matching the expected format (<package>:<moduleName>:<entityName>)';
  throw undecodable(`Invalid identifier format (${identifier}) ${expected} at '${cursor.at}'`);
}
