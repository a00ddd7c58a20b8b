import fc from 'fast-check';
import type { Command } from '../../../src/codecs/Command.js';
import type {
  DeduplicationPeriod,
  ExecuteRequest,
  PartySignatures,
  Signature,
} from '../../../src/codecs/ExecuteRequest.js';
import type {
  DisclosedContract,
  PrefetchContractKey,
  PrepareRequest,
  TrafficEstimation,
} from '../../../src/codecs/PrepareRequest.js';
import type { Duration, MinLedgerTime } from '../../../src/codecs/MinLedgerTime.js';
import type {
  EventFormat,
  ParticipantAuthorizationFormat,
  TopologyFormat,
  TransactionFormat,
  UpdateFormat,
} from '../../../src/codecs/UpdateFormat.js';
import type {
  Filters,
  IdentifierFilter,
  InterfaceFilter,
  TemplateFilter,
  TransactionFilter,
  WildcardFilter,
} from '../../../src/codecs/Filters.js';
import type { HashingSchemeVersion } from '../../../src/codecs/scalars.js';
import type { UpdatesRange, UpdatesRequest, UpdatesSelection } from '../../../src/codecs/UpdatesRequest.js';
import { jsonArbitrary, requestOf } from './messages.js';
import {
  base64Arbitrary,
  contractIdArbitrary,
  fingerprintArbitrary,
  ledgerStringArbitrary,
  offsetArbitrary,
  partiesArbitrary,
  partyArbitrary,
  synchronizerIdArbitrary,
  templateIdArbitrary,
  timestampArbitrary,
  userIdArbitrary,
} from './scalars.js';

export const hashingSchemeVersionArbitrary: fc.Arbitrary<HashingSchemeVersion> = fc.constantFrom<HashingSchemeVersion>(
  'HASHING_SCHEME_VERSION_UNSPECIFIED',
  'HASHING_SCHEME_VERSION_V2',
  'HASHING_SCHEME_VERSION_V3',
  'HASHING_SCHEME_VERSION_V4',
);

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

export const durationArbitrary: fc.Arbitrary<Duration> = requestOf<Duration>(
  { seconds: fc.maxSafeNat() },
  { nanos: fc.nat({ max: 999_999_999 }), unknownFields: fc.constant({ fields: {} }) },
);

export const deduplicationPeriodArbitrary: fc.Arbitrary<DeduplicationPeriod> = fc.oneof(
  fc.constant({ Empty: {} }),
  durationArbitrary.map((value) => ({ DeduplicationDuration: { value } })),
  offsetArbitrary.map((value) => ({ DeduplicationOffset: { value } })),
);

export const minLedgerTimeArbitrary: fc.Arbitrary<MinLedgerTime> = fc.oneof(
  fc.constant({ time: { Empty: {} } }),
  timestampArbitrary.map((value) => ({ time: { MinLedgerTimeAbs: { value } } })),
  durationArbitrary.map((value) => ({ time: { MinLedgerTimeRel: { value } } })),
);

export const signatureArbitrary: fc.Arbitrary<Signature> = requestOf<Signature>(
  {
    format: fc.constantFrom(
      'SIGNATURE_FORMAT_UNSPECIFIED',
      'SIGNATURE_FORMAT_RAW',
      'SIGNATURE_FORMAT_DER',
      'SIGNATURE_FORMAT_CONCAT',
      'SIGNATURE_FORMAT_SYMBOLIC',
    ),
    signature: base64Arbitrary,
    signedBy: fingerprintArbitrary,
    signingAlgorithmSpec: fc.constantFrom(
      'SIGNING_ALGORITHM_SPEC_UNSPECIFIED',
      'SIGNING_ALGORITHM_SPEC_ED25519',
      'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256',
      'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384',
      'SIGNING_ALGORITHM_SPEC_ML_DSA_65',
    ),
  },
  {},
);

export const partySignaturesArbitrary: fc.Arbitrary<PartySignatures> = fc
  .tuple(partyArbitrary, fc.array(signatureArbitrary, { minLength: 1, maxLength: 3 }))
  .map(([party, signatures]) => ({ signatures: [{ party, signatures }] }));

export const executeRequestArbitrary: fc.Arbitrary<ExecuteRequest> = requestOf<ExecuteRequest>(
  {
    preparedTransaction: base64Arbitrary,
    partySignatures: partySignaturesArbitrary,
    hashingSchemeVersion: hashingSchemeVersionArbitrary,
  },
  {
    submissionId: ledgerStringArbitrary,
    deduplicationPeriod: deduplicationPeriodArbitrary,
    userId: userIdArbitrary,
    minLedgerTime: minLedgerTimeArbitrary,
    transactionFormat: transactionFormatArbitrary,
  },
);

export const commandArbitrary: fc.Arbitrary<Command> = fc
  .record({
    templateId: templateIdArbitrary,
    contractId: contractIdArbitrary,
    choice: fc.constantFrom('Archive', 'Transfer'),
    argument: jsonArbitrary,
    other: jsonArbitrary,
    kind: fc.constantFrom('create', 'exercise', 'by key', 'create and exercise'),
  })
  .map(({ templateId, contractId, choice, argument, other, kind }): Command => {
    switch (kind) {
      case 'create':
        return { CreateCommand: { templateId, createArguments: argument } };
      case 'exercise':
        return { ExerciseCommand: { templateId, contractId, choice, choiceArgument: argument } };
      case 'by key':
        return { ExerciseByKeyCommand: { templateId, contractKey: other, choice, choiceArgument: argument } };
      case 'create and exercise':
        return {
          CreateAndExerciseCommand: { templateId, createArguments: other, choice, choiceArgument: argument },
        };
    }
  });

export const disclosedContractArbitrary: fc.Arbitrary<DisclosedContract> = requestOf<DisclosedContract>(
  { contractId: contractIdArbitrary, createdEventBlob: base64Arbitrary },
  { templateId: templateIdArbitrary, synchronizerId: synchronizerIdArbitrary },
);

const prefetchContractKeyArbitrary: fc.Arbitrary<PrefetchContractKey> = fc.record(
  { templateId: templateIdArbitrary, contractKey: jsonArbitrary },
  { noNullPrototype: true },
);

export const prepareRequestArbitrary: fc.Arbitrary<PrepareRequest> = requestOf<PrepareRequest>(
  {
    commandId: ledgerStringArbitrary,
    commands: fc.array(commandArbitrary, { minLength: 1, maxLength: 2 }),
    actAs: fc.array(partyArbitrary, { minLength: 1, maxLength: 2 }),
  },
  {
    readAs: partiesArbitrary,
    userId: userIdArbitrary,
    minLedgerTime: minLedgerTimeArbitrary,
    disclosedContracts: fc.array(disclosedContractArbitrary, { maxLength: 2 }),
    synchronizerId: fc.oneof(fc.constant(''), synchronizerIdArbitrary),
    packageIdSelectionPreference: fc.array(fc.string(), { maxLength: 2 }),
    verboseHashing: fc.boolean(),
    prefetchContractKeys: fc.array(prefetchContractKeyArbitrary, { maxLength: 2 }),
    maxRecordTime: timestampArbitrary,
    estimateTrafficCost: requestOf<TrafficEstimation>(
      {},
      {
        disabled: fc.boolean(),
        expectedSignatures: fc.array(fc.constant('SIGNING_ALGORITHM_SPEC_ED25519'), { maxLength: 2 }),
      },
    ),
    tapsMaxPasses: fc.nat(),
    hashingSchemeVersion: hashingSchemeVersionArbitrary,
  },
);
