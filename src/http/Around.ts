import type { Observable } from 'rxjs';
import type { Call } from './exchange.js';
import type { HttpRequest } from './HttpPort.js';

/**
 * Stands around each request of a link: has it sent, perhaps with further headers, and hands on what comes of it, which is
 * the JSON of the answer or a `LedgerError`.
 */
export type Around = (
  call: Call,
  request: HttpRequest,
  send: (request: HttpRequest) => Observable<unknown>,
) => Observable<unknown>;
