import { EMPTY, type Observable } from 'rxjs';
import type { Feed } from './Feed.js';
import type { Place, Step } from './Place.js';
import { canListen } from './canListen.js';
import { listen } from './listen.js';
import { poll } from './poll.js';
import { readDownward } from './readDownward.js';
import { readLedgerEnd } from './readLedgerEnd.js';
import { readPage } from './readPage.js';

/** The next step of a feed: one request, asked until it is answered well. */
export function stepFrom(feed: Feed, place: Place): Observable<Step> {
  switch (place.next) {
    case 'ledgerEnd':
      return readLedgerEnd(feed, place);
    case 'page':
      return readPage(feed, place);
    case 'pageDown':
      return readDownward(feed, place);
    case 'poll':
      return canListen(feed, place) ? listen(feed, place) : poll(feed, place);
    case 'listening':
    case 'nothing':
      return EMPTY;
  }
}
