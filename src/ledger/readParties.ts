import { concatMap, EMPTY, expand, type Observable } from 'rxjs';
import type { Client } from '../client/Client.js';
import { decodeWith, exchange } from '../client/exchange.js';
import { PartiesPage, type PartyDetails } from '../codecs/PartyDetails.js';

/** Emits the parties that the participant knows, page by page. */
export const readParties = (client: Client): Observable<PartyDetails> => {
  const path = '/v2/parties';
  const page = (pageToken?: string): Observable<PartiesPage> =>
    exchange(
      client,
      { method: 'GET', path, ...(pageToken && { query: { pageToken } }) },
      decodeWith(path, PartiesPage),
    );
  return page().pipe(
    expand(({ nextPageToken }) => (nextPageToken ? page(nextPageToken) : EMPTY)),
    concatMap(({ partyDetails }) => partyDetails),
  );
};
