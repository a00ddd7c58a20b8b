import type { LedgerEvent } from '../../events/LedgerEvent.js';
import type { LedgerError } from '../../errors/LedgerError.js';

/** How a feed is getting on, as its events tell it. */
export interface Pace {
  readonly hasCaughtUp: boolean;
  /** Whether the ledger pushes what is new. */
  readonly isPushed?: boolean;
  /** What keeps it from going on just now, in a word or two. */
  readonly trouble?: string;
}

/** How a feed gets on after an event. For `scan`. */
export function paceOf(pace: Pace, event: LedgerEvent): Pace {
  switch (event._tag) {
    case 'FeedStarted':
    case 'FellBehind':
      return { hasCaughtUp: false };
    case 'CaughtUp':
      return { hasCaughtUp: true };
    case 'RetryScheduled':
      return { ...pace, trouble: inAWord(event.cause) };
    case 'PageReceived':
      return { hasCaughtUp: pace.hasCaughtUp, ...(pace.isPushed === true && { isPushed: true }) };
    case 'SocketOpened':
      return { hasCaughtUp: true, isPushed: true };
    case 'SocketClosed':
      return { hasCaughtUp: pace.hasCaughtUp };
    default:
      return pace;
  }
}

function inAWord(error: LedgerError): string {
  if (error._tag === 'ApiError') return error.code ?? String(error.status);
  return error._tag === 'ConnectionError' ? (error.code ?? error.reason) : error.name;
}
