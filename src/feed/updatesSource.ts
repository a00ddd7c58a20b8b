import type { TransactionFilter } from '../codecs/Filters.js';
import { type Update, UpdateElement } from '../codecs/Update.js';
import type { EventFormat, UpdateFormat } from '../codecs/UpdateFormat.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { readPage, readRange } from './catchUp.js';
import type { FeedSource } from './LedgerFeed.js';
import type { Range } from './Page.js';
import { poll } from './poll.js';

/** The updates that a request selects: read in ranges with an end, several at once, and then with polls. */
export const updatesSource = (request: UpdatesRequest): FeedSource<Update> => ({
  field: 'update',
  codec: UpdateElement,
  path: ({ learned }) => learned.updatesPath,
  body: (range, path) => updatesBody(request, range, path),
  lookUp: (updateId) => {
    const { updateFormat } = updatesBody(request, { beginExclusive: 0 }, '/v2/updates');
    return { updateId, updateFormat };
  },
  readRange,
  catchUp: readPage,
  follow: poll,
});

/**
 * The body of a request for a range. For `/v2/updates`, it always contains an update format: the legacy `filter` and
 * `verbose` are deprecated since 3.4, get responses of the wrong shape before 3.4.12, and are off by default in 3.6.
 */
function updatesBody(
  request: UpdatesRequest,
  range: Range,
  path: string,
): { readonly updateFormat?: UpdateFormat | null | undefined } {
  const { updateFormat, filter, verbose } = request;
  return {
    descendingOrder: false,
    ...range,
    ...(path === '/v2/updates/flats'
      ? { updateFormat, filter, verbose }
      : { updateFormat: updateFormat ?? formatOfFilter(filter, verbose) }),
  };
}

/** The update format that equals a legacy filter, by the rule in the API specification. */
function formatOfFilter(
  filter: TransactionFilter | null | undefined,
  verbose: boolean | null | undefined,
): UpdateFormat | undefined {
  if (!filter) return undefined;
  const eventFormat: EventFormat = { ...filter, verbose: verbose ?? false };
  const parties = Object.keys(filter.filtersByParty ?? {});
  return {
    includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
    includeReassignments: eventFormat,
    includeTopologyEvents: {
      includeParticipantAuthorizationEvents: { parties: filter.filtersForAnyParty ? [] : parties },
    },
  };
}
