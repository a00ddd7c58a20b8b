import fc from 'fast-check';
import type { Filters, TransactionFilter } from '../../../src/codecs/Filters.js';
import type { EventFormat, TransactionFormat, UpdateFormat } from '../../../src/codecs/UpdateFormat.js';
import type { UpdatesRange, UpdatesRequest } from '../../../src/codecs/UpdatesRequest.js';
import { requestOf } from './messages.js';
import { offsetArbitrary, partiesArbitrary, partyArbitrary, templateIdArbitrary } from './scalars.js';
import type {
  IdentifierFilter,
  InterfaceFilter,
  TemplateFilter,
  WildcardFilter,
  ParticipantAuthorizationFormat,
  TopologyFormat,
  UpdatesSelection,
} from '../wireTypes.js';

export const identifierFilterArbitrary: fc.Arbitrary<IdentifierFilter> = fc.oneof(
  fc.constant({ Empty: {} }),
  requestOf<WildcardFilter>({}, { includeCreatedEventBlob: fc.boolean() }).map((value) => ({
    WildcardFilter: { value },
  })),
  requestOf<TemplateFilter>({ templateId: templateIdArbitrary }, { includeCreatedEventBlob: fc.boolean() }).map(
    (value) => ({ TemplateFilter: { value } }),
  ),
  requestOf<InterfaceFilter>(
    { interfaceId: templateIdArbitrary },
    { includeInterfaceView: fc.boolean(), includeCreatedEventBlob: fc.boolean() },
  ).map((value) => ({ InterfaceFilter: { value } })),
);

export const filtersArbitrary: fc.Arbitrary<Filters> = requestOf<Filters>(
  {},
  {
    cumulative: fc.array(
      identifierFilterArbitrary.map((identifierFilter) => ({ identifierFilter })),
      { maxLength: 2 },
    ),
  },
);

const filtersByPartyArbitrary: fc.Arbitrary<Readonly<Record<string, Filters>>> = fc
  .array(fc.tuple(partyArbitrary, filtersArbitrary), { maxLength: 2 })
  .map((entries): Readonly<Record<string, Filters>> => Object.fromEntries(entries));

export const eventFormatArbitrary: fc.Arbitrary<EventFormat> = requestOf<EventFormat>(
  {},
  { filtersByParty: filtersByPartyArbitrary, filtersForAnyParty: filtersArbitrary, verbose: fc.boolean() },
);

export const transactionFormatArbitrary: fc.Arbitrary<TransactionFormat> = requestOf<TransactionFormat>(
  {
    eventFormat: eventFormatArbitrary,
    transactionShape: fc.constantFrom('TRANSACTION_SHAPE_ACS_DELTA', 'TRANSACTION_SHAPE_LEDGER_EFFECTS'),
  },
  {},
);

export const topologyFormatArbitrary: fc.Arbitrary<TopologyFormat> = requestOf<TopologyFormat>(
  {},
  {
    includeParticipantAuthorizationEvents: requestOf<ParticipantAuthorizationFormat>({}, { parties: partiesArbitrary }),
  },
);

export const updateFormatArbitrary: fc.Arbitrary<UpdateFormat> = requestOf<UpdateFormat>(
  {},
  {
    includeTransactions: transactionFormatArbitrary,
    includeReassignments: eventFormatArbitrary,
    includeTopologyEvents: topologyFormatArbitrary,
  },
);

export const transactionFilterArbitrary: fc.Arbitrary<TransactionFilter> = requestOf<TransactionFilter>(
  {},
  { filtersByParty: filtersByPartyArbitrary, filtersForAnyParty: filtersArbitrary },
);

const rangeArbitrary: fc.Arbitrary<UpdatesRange> = fc.oneof(
  requestOf<{ beginExclusive: number; descendingOrder?: false | null; endInclusive?: null }>(
    { beginExclusive: offsetArbitrary },
    { descendingOrder: fc.constant<false>(false), endInclusive: fc.constant(null) },
  ),
  fc
    .tuple(offsetArbitrary, offsetArbitrary, fc.constantFrom(true, false, null, undefined))
    .map(([one, other, descendingOrder]) => ({
      beginExclusive: Math.min(one, other),
      endInclusive: Math.max(one, other),
      ...(descendingOrder !== undefined && { descendingOrder }),
    })),
);

const selectionArbitrary: fc.Arbitrary<UpdatesSelection> = fc.oneof(
  requestOf<{ updateFormat: UpdateFormat; filter?: null; verbose?: null }>(
    { updateFormat: updateFormatArbitrary },
    { filter: fc.constant(null), verbose: fc.constant(null) },
  ),
  requestOf<{ filter: TransactionFilter; verbose?: boolean | null; updateFormat?: null }>(
    { filter: transactionFilterArbitrary },
    { verbose: fc.boolean(), updateFormat: fc.constant(null) },
  ),
);

export const updatesRequestArbitrary: fc.Arbitrary<UpdatesRequest> = fc
  .tuple(rangeArbitrary, selectionArbitrary)
  .map(([range, selection]) => ({ ...range, ...selection }));
