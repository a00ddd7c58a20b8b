import { catchError, map, of } from 'rxjs';
import { UpdateElement } from '../codecs/Update.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import type { HistoryReader } from '../history/HistoryReader.js';
import { isUnavailable, readParticipantId } from '../history/participant.js';
import { decodeWith, exchange } from '../client/exchange.js';
import type { AnyFeed } from './LedgerFeed.js';
import { ledgerEnd } from './ledgerEnd.js';
import { resetIfBeyondEnd } from './pageRequest.js';
import { type Client, reportWithout } from '../client/Client.js';

/** What a participant shows of its history without a selection: which one it is, and where its ledger ends. */
export const bareHistory = (client: Client): HistoryReader => ({
  isSearchable: false,
  completeAfter: 0,
  searched: new Map(),
  participantId$: readParticipantId(client),
  ledgerEnd$: ledgerEnd(client).pipe(
    catchError((error: unknown) => {
      if (isUnavailable(error)) return of(undefined);
      throw error;
    }),
  ),
  read: () => of([]),
  offsetOf: () => of(undefined),
});

/** What the participant shows of its history to the requests of a feed. */
export function historyOf(feed: AnyFeed): HistoryReader {
  const { client, source, history } = feed;
  const report = reportWithout(feed.report, 'PollSent', 'PageReceived');
  return {
    ...bareHistory(client),
    isSearchable: source.lookUp !== undefined,
    // in descending order, what is before the last update is not read yet
    completeAfter: feed.request.descendingOrder === true ? Infinity : history.completeAfter,
    read: (range, limit) => {
      // the range may be after the end of the request; where ranges have no end, what follows shows that something is gone
      const { beginExclusive, endInclusive } = range;
      const request =
        source.lookUp === undefined ? { beginExclusive } : { ...feed.request, endInclusive, descendingOrder: false };
      // a participant that was upgraded may send what does not decode
      const shown = { ...feed, request, report, onUndecodable: 'emit' } as const;
      return source.readRange(shown, range, { limit, isProof: true }).pipe(
        map(({ updates, failure }) => {
          if (failure !== undefined) throw failure;
          return updates;
        }),
        resetIfBeyondEnd(history.position.offset),
      );
    },
    offsetOf: (updateId) => {
      if (source.lookUp === undefined) return of(undefined);
      const path = '/v2/updates/update-by-id';
      const body = source.lookUp(updateId);
      return exchange(client, { method: 'POST', path, body }, decodeWith(path, UpdateElement)).pipe(
        map(({ offset }) => offset),
        catchError((error: unknown) => {
          // unknown, not visible or pruned; or the participant does not serve the path
          if (isLedgerError(error) && !isTransient(error)) return of(undefined);
          throw error;
        }),
      );
    },
  };
}
