import fc from 'fast-check';
import type { Command } from '../../../src/codecs/Command.js';
import type {
  DeduplicationPeriod,
  ExecuteRequest,
  PartySignatures,
  Signature,
} from '../../../src/codecs/ExecuteRequest.js';
import type { Duration, MinLedgerTime } from '../../../src/codecs/MinLedgerTime.js';
import type { DisclosedContract, PrepareRequest } from '../../../src/codecs/SubmissionRequest.js';
import { transactionFormatArbitrary } from './formats.js';
import { jsonArbitrary, requestOf } from './messages.js';
import {
  base64Arbitrary,
  contractIdArbitrary,
  fingerprintArbitrary,
  hashingSchemeVersionArbitrary,
  ledgerStringArbitrary,
  offsetArbitrary,
  partiesArbitrary,
  partyArbitrary,
  synchronizerIdArbitrary,
  templateIdArbitrary,
  timestampArbitrary,
  userIdArbitrary,
} from './scalars.js';
import type { PrefetchContractKey, TrafficEstimation } from '../wireTypes.js';

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

const prefetchContractKeyArbitrary: fc.Arbitrary<PrefetchContractKey> = requestOf<PrefetchContractKey>(
  { templateId: templateIdArbitrary, contractKey: jsonArbitrary },
  { limit: fc.integer({ min: 1, max: 2 ** 31 - 1 }) },
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
