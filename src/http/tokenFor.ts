import { defer, type Observable } from 'rxjs';
import type { Link } from './Link.js';
import { tokenOf } from './tokenOf.js';

/** The token to send over a link now; `undefined` where none is to be sent. */
export const tokenFor = ({ token, requestTimeoutMs }: Link): Observable<string | undefined> =>
  token === undefined ? defer(() => [undefined]) : tokenOf(token, requestTimeoutMs);
