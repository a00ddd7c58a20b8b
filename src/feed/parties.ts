import { catchError, concatMap, defer, EMPTY, expand, type Observable, tap } from 'rxjs';
import { PartiesPage, type PartyDetails } from '../codecs/PartyDetails.js';
import { partiesIn } from '../errors/ApiError.js';
import { decodeWith, exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import type { AnyFeed, Position } from './LedgerFeed.js';

const path = '/v2/parties';

/** Emits the parties that the participant knows, page by page. */
export const parties = (link: Link): Observable<PartyDetails> => {
  const page = (pageToken?: string): Observable<PartiesPage> =>
    exchange(link, { method: 'GET', path, ...(pageToken && { query: { pageToken } }) }, decodeWith(path, PartiesPage));
  return page().pipe(
    expand(({ nextPageToken }) => (nextPageToken ? page(nextPageToken) : EMPTY)),
    concatMap(({ partyDetails }) => partyDetails),
  );
};

/** How many parties of a feed are looked up. */
const maxParties = 10;

/**
 * Reports each party of a feed that the participant hosts on none of the synchronizers to which it is connected: it answers
 * requests for such a party with nothing. Looks them up once, when a feed that has found nothing begins to wait, and only if
 * there is a subscriber to the report. Never fails.
 */
export const reportUnknownParties = (
  { service, source, report, continuity }: AnyFeed,
  { polledAt, recentElements, cursor }: Position,
): Observable<never> =>
  defer(() => {
    const hasFound = recentElements > 0 || continuity.evidence !== undefined;
    if (polledAt > 0 || hasFound || !service.isObserved) return EMPTY;
    const named = partiesIn(JSON.stringify(source.body({ beginExclusive: cursor }, source.path(service))));
    const isHosted = (query: { readonly party?: string }): Observable<boolean> =>
      exchange(
        service.link,
        { method: 'GET', path: '/v2/state/connected-synchronizers', query },
        (json) => (json as { connectedSynchronizers: unknown[] }).connectedSynchronizers.length > 0,
      );
    return (named.length === 0 ? EMPTY : isHosted({})).pipe(
      concatMap((isConnected) => (isConnected ? named.slice(0, maxParties) : [])),
      concatMap((party) =>
        isHosted({ party }).pipe(
          tap((isKnown) => {
            if (!isKnown) report(() => ({ _tag: 'PartyUnknown', party }));
          }),
        ),
      ),
    );
  }).pipe(
    catchError(() => EMPTY),
    concatMap(() => EMPTY),
  );
