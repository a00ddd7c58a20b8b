import type { Connection } from '../arguments/Connection.js';

/** The headers of every request: the token, if there is one and it is not to be left out. */
export function headersOf({ token }: Connection, isAnonymous: boolean): Readonly<Record<string, string>> {
  const value = isAnonymous ? undefined : token?.();
  return value === undefined ? {} : { authorization: `Bearer ${value}` };
}
