import type { Fault } from '../faults/Fault.js';
import type { Participant } from '../participant/Participant.js';
import type { Trace } from './Trace.js';

/** A request on its way through a handler. */
export interface Call {
  readonly participant: Participant;
  readonly body: string;
  readonly query: URLSearchParams;
  readonly trace: Trace;
  /** The fault of the request, for those that need the handler's help. */
  readonly fault: Fault | undefined;
  /** Fires when there is nobody left to answer. */
  readonly signal: AbortSignal;
  /** Asks again whether the token of the request is good. */
  readonly isAuthorized: () => boolean;
}
