import type { Cursor } from './Cursor.js';
import { undecodable } from './undecodable.js';

/** Bytes in padded base64. */
export function readBase64(cursor: Cursor): Buffer {
  const value = cursor.string();
  const valid = value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
  if (!valid) throw undecodable(`The string is not a valid Base64: ${value} at '${cursor.at}'`);
  return Buffer.from(value, 'base64');
}
