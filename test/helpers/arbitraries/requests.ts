import fc from 'fast-check';
import type { Command } from '../../../src/codecs/Command.js';
import type {
  DeduplicationPeriod,
  ExecuteRequest,
  PartySignatures,
  Signature,
} from '../../../src/codecs/ExecuteRequest.js';
import type { Filters, TransactionFilter } from '../../../src/codecs/Filters.js';
import type { Duration, MinLedgerTime } from '../../../src/codecs/MinLedgerTime.js';
import type { CommandsRequest, DisclosedContract, PrepareRequest } from '../../../src/codecs/SubmissionRequest.js';
import type { EventFormat, TransactionFormat, UpdateFormat } from '../../../src/codecs/UpdateFormat.js';
import type { UpdatesRange, UpdatesRequest } from '../../../src/codecs/UpdatesRequest.js';
import type * as Wire from '../wireTypes.js';
import { jsonArbitrary, requestOf } from './messages.js';
import * as scalar from './scalars.js';

export const identifierFilterArbitrary: fc.Arbitrary<Wire.IdentifierFilter> = fc.oneof(
  fc.constant({ Empty: {} }),
  requestOf<Wire.WildcardFilter>({}, { includeCreatedEventBlob: fc.boolean() }).map((value) => ({
    WildcardFilter: { value },
  })),
  requestOf<Wire.TemplateFilter>(
    { templateId: scalar.templateIdArbitrary },
    { includeCreatedEventBlob: fc.boolean() },
  ).map((value) => ({ TemplateFilter: { value } })),
  requestOf<Wire.InterfaceFilter>(
    { interfaceId: scalar.templateIdArbitrary },
    { includeInterfaceView: fc.boolean(), includeCreatedEventBlob: fc.boolean() },
  ).map((value) => ({ InterfaceFilter: { value } })),
);

export const filtersArbitrary = requestOf<Filters>(
  {},
  {
    cumulative: fc.array(requestOf<Wire.CumulativeFilter>({}, { identifierFilter: identifierFilterArbitrary }), {
      maxLength: 2,
    }),
  },
);

const filtersByPartyArbitrary: fc.Arbitrary<Readonly<Record<string, Filters>>> = fc
  .array(fc.tuple(scalar.partyArbitrary, filtersArbitrary), { maxLength: 2 })
  .map((entries): Readonly<Record<string, Filters>> => Object.fromEntries(entries));

export const eventFormatArbitrary = requestOf<EventFormat>(
  {},
  { filtersByParty: filtersByPartyArbitrary, filtersForAnyParty: filtersArbitrary, verbose: fc.boolean() },
);

export const transactionFormatArbitrary = requestOf<TransactionFormat>(
  {
    eventFormat: eventFormatArbitrary,
    transactionShape: fc.constantFrom('TRANSACTION_SHAPE_ACS_DELTA', 'TRANSACTION_SHAPE_LEDGER_EFFECTS'),
  },
  {},
);

const topologyFormatArbitrary = requestOf<Wire.TopologyFormat>(
  {},
  {
    includeParticipantAuthorizationEvents: requestOf<Wire.ParticipantAuthorizationFormat>(
      {},
      { parties: scalar.partiesArbitrary },
    ),
  },
);

export const updateFormatArbitrary = requestOf<UpdateFormat>(
  {},
  {
    includeTransactions: transactionFormatArbitrary,
    includeReassignments: eventFormatArbitrary,
    includeTopologyEvents: topologyFormatArbitrary,
  },
);

export const transactionFilterArbitrary = requestOf<TransactionFilter>(
  {},
  { filtersByParty: filtersByPartyArbitrary, filtersForAnyParty: filtersArbitrary },
);

const rangeArbitrary: fc.Arbitrary<UpdatesRange> = fc.oneof(
  requestOf<{ beginExclusive: number; descendingOrder?: false | null; endInclusive?: null }>(
    { beginExclusive: scalar.offsetArbitrary },
    { descendingOrder: fc.constant<false>(false), endInclusive: fc.constant(null) },
  ),
  fc
    .tuple(scalar.offsetArbitrary, scalar.offsetArbitrary, fc.constantFrom(true, false, null, undefined))
    .map(([one, other, descendingOrder]) => ({
      beginExclusive: Math.min(one, other),
      endInclusive: Math.max(one, other),
      ...(descendingOrder !== undefined && { descendingOrder }),
    })),
);

const selectionArbitrary: fc.Arbitrary<Wire.UpdatesSelection> = fc.oneof(
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

export const durationArbitrary = requestOf<Duration>(
  { seconds: fc.maxSafeNat() },
  { nanos: fc.nat({ max: 999_999_999 }), unknownFields: fc.constant({ fields: {} }) },
);

export const deduplicationPeriodArbitrary: fc.Arbitrary<DeduplicationPeriod> = fc.oneof(
  fc.constant({ Empty: {} }),
  durationArbitrary.map((value) => ({ DeduplicationDuration: { value } })),
  scalar.offsetArbitrary.map((value) => ({ DeduplicationOffset: { value } })),
);

export const minLedgerTimeArbitrary = requestOf<MinLedgerTime>(
  {},
  {
    time: fc.oneof(
      fc.constant({ Empty: {} }),
      scalar.timestampArbitrary.map((value) => ({ MinLedgerTimeAbs: { value } })),
      durationArbitrary.map((value) => ({ MinLedgerTimeRel: { value } })),
    ),
  },
);

export const signatureArbitrary = requestOf<Signature>(
  {
    format: fc.constantFrom(
      'SIGNATURE_FORMAT_UNSPECIFIED',
      'SIGNATURE_FORMAT_RAW',
      'SIGNATURE_FORMAT_DER',
      'SIGNATURE_FORMAT_CONCAT',
      'SIGNATURE_FORMAT_SYMBOLIC',
    ),
    signature: scalar.base64Arbitrary,
    signedBy: scalar.fingerprintArbitrary,
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
  .tuple(scalar.partyArbitrary, fc.array(signatureArbitrary, { minLength: 1, maxLength: 3 }))
  .map(([party, signatures]) => ({ signatures: [{ party, signatures }] }));

export const executeRequestArbitrary = requestOf<ExecuteRequest>(
  {
    preparedTransaction: scalar.base64Arbitrary,
    partySignatures: partySignaturesArbitrary,
    hashingSchemeVersion: scalar.hashingSchemeVersionArbitrary,
  },
  {
    submissionId: scalar.ledgerStringArbitrary,
    deduplicationPeriod: deduplicationPeriodArbitrary,
    userId: scalar.userIdArbitrary,
    minLedgerTime: minLedgerTimeArbitrary,
    transactionFormat: transactionFormatArbitrary,
  },
);

export const commandArbitrary: fc.Arbitrary<Command> = fc
  .record({
    templateId: scalar.templateIdArbitrary,
    contractId: scalar.contractIdArbitrary,
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

export const disclosedContractArbitrary = requestOf<DisclosedContract>(
  { createdEventBlob: scalar.base64Arbitrary },
  {
    contractId: scalar.contractIdArbitrary,
    templateId: scalar.templateIdArbitrary,
    synchronizerId: scalar.synchronizerIdArbitrary,
  },
);

const prefetchContractKeyArbitrary = requestOf<Wire.PrefetchContractKey>(
  { templateId: scalar.templateIdArbitrary, contractKey: jsonArbitrary },
  { limit: fc.integer({ min: 1, max: 2 ** 31 - 1 }) },
);

export const prepareRequestArbitrary = requestOf<PrepareRequest>(
  {
    commandId: scalar.ledgerStringArbitrary,
    commands: fc.array(commandArbitrary, { minLength: 1, maxLength: 2 }),
    actAs: fc.array(scalar.partyArbitrary, { minLength: 1, maxLength: 2 }),
  },
  {
    readAs: scalar.partiesArbitrary,
    userId: scalar.userIdArbitrary,
    minLedgerTime: minLedgerTimeArbitrary,
    disclosedContracts: fc.array(disclosedContractArbitrary, { maxLength: 2 }),
    synchronizerId: fc.oneof(fc.constant(''), scalar.synchronizerIdArbitrary),
    packageIdSelectionPreference: fc.array(fc.string(), { maxLength: 2 }),
    verboseHashing: fc.boolean(),
    prefetchContractKeys: fc.array(prefetchContractKeyArbitrary, { maxLength: 2 }),
    maxRecordTime: scalar.timestampArbitrary,
    estimateTrafficCost: requestOf<Wire.TrafficEstimation>(
      {},
      {
        disabled: fc.boolean(),
        expectedSignatures: fc.array(fc.constant('SIGNING_ALGORITHM_SPEC_ED25519'), { maxLength: 2 }),
      },
    ),
    tapsMaxPasses: fc.nat(),
    hashingSchemeVersion: scalar.hashingSchemeVersionArbitrary,
  },
);

export const commandsRequestArbitrary = requestOf<CommandsRequest>(
  {
    commands: fc.array(commandArbitrary, { minLength: 1, maxLength: 2 }),
    actAs: fc
      .tuple(scalar.partyArbitrary, scalar.partiesArbitrary)
      .map(([party, others]): CommandsRequest['actAs'] => [party, ...others]),
  },
  {
    commandId: scalar.ledgerStringArbitrary,
    readAs: scalar.partiesArbitrary,
    userId: scalar.userIdArbitrary,
    workflowId: scalar.ledgerStringArbitrary,
    deduplicationPeriod: deduplicationPeriodArbitrary,
    minLedgerTimeAbs: scalar.timestampArbitrary,
    minLedgerTimeRel: durationArbitrary,
    disclosedContracts: fc.array(disclosedContractArbitrary, { maxLength: 2 }),
    synchronizerId: scalar.synchronizerIdArbitrary,
    packageIdSelectionPreference: fc.array(fc.string(), { maxLength: 2 }),
    prefetchContractKeys: fc.array(prefetchContractKeyArbitrary, { maxLength: 2 }),
    tapsMaxPasses: fc.nat(),
    transactionFormat: transactionFormatArbitrary,
  },
);
