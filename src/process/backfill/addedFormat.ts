import type { Filters } from '../../codecs/Filters.js';
import type { EventFormat, UpdateFormat } from '../../codecs/UpdateFormat.js';
import { canonicalJson } from '../selectionHash.js';

/**
 * Returns a format that selects at least the updates that a format selects and another one does not; `undefined` if there are
 * none. Parties that both select by the same filters are left out. Of an update that the other format does not select, both
 * formats show the same events: no party that is left out sees any of them.
 */
export function addedFormat(now: UpdateFormat, former: UpdateFormat): UpdateFormat | undefined {
  const { includeTransactions, includeReassignments } = now;
  const isSameShape = includeTransactions?.transactionShape === former.includeTransactions?.transactionShape;
  const transactions =
    includeTransactions &&
    addedEvents(includeTransactions.eventFormat, isSameShape ? former.includeTransactions?.eventFormat : undefined);
  const reassignments = includeReassignments && addedEvents(includeReassignments, former.includeReassignments);
  const parties = addedHosting(hostingOf(now), hostingOf(former));
  if (!transactions && !reassignments && !parties) return undefined;
  return {
    ...(includeTransactions &&
      transactions && { includeTransactions: { ...includeTransactions, eventFormat: transactions } }),
    ...(reassignments && { includeReassignments: reassignments }),
    ...(parties && { includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties } } }),
  };
}

/** Whether two formats select the same updates. */
export const isSameFormat = (one: UpdateFormat, other: UpdateFormat): boolean =>
  canonicalJson(one) === canonicalJson(other);

function addedEvents(now: EventFormat, former: EventFormat | null | undefined): EventFormat | undefined {
  const any = former?.filtersForAnyParty;
  const isCovered = (filters: Filters, other: Filters | null | undefined): boolean =>
    [other, any].some((each) => each && canonicalJson(each) === canonicalJson(filters));
  const added = Object.entries(now.filtersByParty ?? {}).filter(
    ([party, filters]) => !isCovered(filters, former?.filtersByParty?.[party]),
  );
  const { filtersForAnyParty, ...rest } = now;
  const addsAny = filtersForAnyParty && !isCovered(filtersForAnyParty, undefined);
  if (added.length === 0 && !addsAny) return undefined;
  return { ...rest, filtersByParty: Object.fromEntries(added), ...(addsAny && { filtersForAnyParty }) };
}

/** The parties whose hosting is selected; an empty list for all of them. */
const hostingOf = ({ includeTopologyEvents }: UpdateFormat): readonly string[] | undefined => {
  const included = includeTopologyEvents?.includeParticipantAuthorizationEvents;
  return included ? (included.parties ?? []) : undefined;
};

function addedHosting(
  now: readonly string[] | undefined,
  former: readonly string[] | undefined,
): readonly string[] | undefined {
  if (now === undefined || former?.length === 0) return undefined;
  if (now.length === 0) return now;
  const added = now.filter((party) => former?.includes(party) !== true);
  // an empty list selects all parties
  return added.length === 0 ? undefined : added;
}
