import type { Observable } from 'rxjs';
import type { Call } from './exchange.js';
import type { HttpRequest } from './HttpPort.js';

/**
 * Stands around each request of a link: has it sent, perhaps with further headers, has the JSON of the answer read, and
 * hands on what comes of it, or a `LedgerError`.
 */
export type Around = <A>(
  call: Call,
  request: HttpRequest,
  send: (request: HttpRequest) => Observable<unknown>,
  read: (json: unknown) => A,
) => Observable<A>;
