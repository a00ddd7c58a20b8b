import type { EventFormat } from '../codecs/EventFormat.js';
import type { TransactionFilter } from '../codecs/TransactionFilter.js';
import type { UpdateFormat } from '../codecs/UpdateFormat.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Range } from './Range.js';
import type { UpdatesPath } from './Service.js';

/**
 * The body that asks for a range of what a request selects. `/v2/updates` is asked by update format alone: its legacy
 * `filter` and `verbose` are deprecated since 3.4, answer the wrong shape before 3.4.12 and are off by default in 3.6.
 */
export function updatesBody(request: UpdatesRequest, range: Range, path: UpdatesPath): object {
  const { updateFormat, filter, verbose } = request;
  return {
    descendingOrder: false,
    ...range,
    ...(path === '/v2/updates/flats'
      ? { updateFormat, filter, verbose }
      : { updateFormat: updateFormat ?? formatOf(filter, verbose) }),
  };
}

/** The interface document's rule of what a filter without an update format means. */
function formatOf(
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
