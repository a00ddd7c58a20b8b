import type { Connection } from '../arguments/Connection.js';
import { tokenNow } from './tokenNow.js';

/** The headers of every request: the token, if there is one and it is not to be left out. */
export function headersOf(connection: Connection, isAnonymous: boolean): Readonly<Record<string, string>> {
  const value = isAnonymous ? undefined : tokenNow(connection);
  return value === undefined ? {} : { authorization: `Bearer ${value}` };
}
