import type { IncomingHttpHeaders } from 'node:http';
import type { Participant } from '../participant/Participant.js';

/** A request that has arrived as a whole. */
export interface Work {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly participant: Participant;
  /** Fires when the client is gone. */
  readonly signal: AbortSignal;
}
