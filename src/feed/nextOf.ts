import type { Offset } from '../codecs/Offset.js';
import type { Feed } from './Feed.js';
import type { Place } from './Place.js';

/** What to ask for when there may be something to catch up on. */
export function catchingUp({ service, request }: Feed): Place['next'] {
  if (service.learned.hasLedgerEnd) return 'ledgerEnd';
  // without the ledger end, only a range that the caller bounds can be read in pages
  return typeof request.endInclusive === 'number' ? 'page' : 'poll';
}

/** What to ask for when everything there is has been read. */
export function waiting({ request }: Feed, cursor: Offset): Place['next'] {
  return typeof request.endInclusive === 'number' && cursor >= request.endInclusive ? 'nothing' : 'poll';
}
