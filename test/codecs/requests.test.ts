import { describe, expect, it } from '@jest/globals';
import { DeduplicationPeriod, ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { DisclosedContract, PrepareRequest, TrafficEstimation } from '../../src/codecs/PrepareRequest.js';
import { EventFormat, TopologyFormat, TransactionFormat, UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import { Filters, IdentifierFilter, TransactionFilter } from '../../src/codecs/Filters.js';
import { MinLedgerTime } from '../../src/codecs/MinLedgerTime.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import { anyCodec, decoded, keysOf, problems, replaced, sample } from './support.js';

const updates = sample('requests', 'updates', 'pasted');
const execute = sample('requests', 'execute', 'pasted');
const prepare = sample('requests', 'prepare', 'pasted');

describe('a scalar left out', () => {
  const flag = { includeCreatedEventBlob: false };
  const templateId = '#p:M:E';

  it.each([
    { name: 'filtersByParty and verbose', codec: EventFormat, wire: {}, sent: { filtersByParty: {}, verbose: false } },
    { name: 'filtersByParty of a filter', codec: TransactionFilter, wire: {}, sent: { filtersByParty: {} } },
    { name: 'cumulative', codec: Filters, wire: {}, sent: { cumulative: [] } },
    {
      name: 'includeCreatedEventBlob of a wildcard',
      codec: IdentifierFilter,
      wire: { WildcardFilter: { value: {} } },
      sent: { WildcardFilter: { value: flag } },
    },
    {
      name: 'includeCreatedEventBlob of a template',
      codec: IdentifierFilter,
      wire: { TemplateFilter: { value: { templateId } } },
      sent: { TemplateFilter: { value: { templateId, ...flag } } },
    },
    {
      name: 'includeInterfaceView',
      codec: IdentifierFilter,
      wire: { InterfaceFilter: { value: { interfaceId: templateId, includeCreatedEventBlob: null } } },
      sent: { InterfaceFilter: { value: { interfaceId: templateId, includeInterfaceView: false, ...flag } } },
    },
    {
      name: 'parties',
      codec: TopologyFormat,
      wire: { includeParticipantAuthorizationEvents: {} },
      sent: { includeParticipantAuthorizationEvents: { parties: [] } },
    },
    {
      name: 'nanos of a deduplication period',
      codec: DeduplicationPeriod,
      wire: { DeduplicationDuration: { value: { seconds: 600 } } },
      sent: { DeduplicationDuration: { value: { seconds: 600, nanos: 0 } } },
    },
    {
      name: 'nanos of a ledger time',
      codec: MinLedgerTime,
      wire: { time: { MinLedgerTimeRel: { value: { seconds: 5, nanos: null, unknownFields: { fields: {} } } } } },
      sent: { time: { MinLedgerTimeRel: { value: { seconds: 5, nanos: 0 } } } },
    },
    {
      name: 'synchronizerId of a disclosed contract',
      codec: DisclosedContract,
      wire: { contractId: '00', createdEventBlob: 'AAAA', templateId: null },
      sent: { contractId: '00', createdEventBlob: 'AAAA', synchronizerId: '' },
    },
    {
      name: 'disabled and expectedSignatures',
      codec: TrafficEstimation,
      wire: { expectedSignatures: null },
      sent: { disabled: false, expectedSignatures: [] },
    },
    {
      name: 'descendingOrder',
      codec: UpdatesRequest,
      wire: { beginExclusive: 0 },
      sent: { beginExclusive: 0, descendingOrder: false },
    },
    {
      name: 'verbose beside filter',
      codec: UpdatesRequest,
      wire: { beginExclusive: 0, filter: {}, verbose: null },
      sent: { beginExclusive: 0, descendingOrder: false, filter: { filtersByParty: {} }, verbose: false },
    },
  ])('$name is sent', ({ codec, wire, sent }) => {
    expect(decoded<unknown>(codec, wire)).toStrictEqual(sent);
  });

  it('userId and deduplicationPeriod of an execution are sent', () => {
    const without = replaced(replaced(execute, 'userId', undefined), 'deduplicationPeriod', undefined);
    const sent = { userId: '', deduplicationPeriod: { Empty: {} } };
    expect(decoded(ExecuteRequest, without)).toMatchObject(sent);
    const withNulls = replaced(replaced(execute, 'userId', null), 'deduplicationPeriod', null);
    expect(decoded(ExecuteRequest, withNulls)).toMatchObject(sent);
  });

  it('verbose is not sent beside updateFormat', () => {
    expect(decoded(UpdatesRequest, { beginExclusive: 0, updateFormat: {} })).toStrictEqual({
      beginExclusive: 0,
      descendingOrder: false,
      updateFormat: {},
    });
  });

  it('encoding fills in what decoding would', () => {
    expect(UpdatesRequest.encode({ beginExclusive: 0, filter: { filtersByParty: null } })).toStrictEqual({
      beginExclusive: 0,
      descendingOrder: false,
      filter: { filtersByParty: {} },
      verbose: false,
    });
  });
});

describe('a null', () => {
  it.each([
    {
      codec: UpdatesRequest,
      wire: {
        beginExclusive: 1,
        endInclusive: null,
        descendingOrder: null,
        updateFormat: null,
        filter: null,
        verbose: null,
      },
      left: { beginExclusive: 1, descendingOrder: false },
    },
    {
      codec: UpdateFormat,
      wire: { includeTransactions: null, includeReassignments: null, includeTopologyEvents: null },
      left: {},
    },
    {
      codec: EventFormat,
      wire: { filtersByParty: null, filtersForAnyParty: null, verbose: null },
      left: { filtersByParty: {}, verbose: false },
    },
    { codec: TopologyFormat, wire: { includeParticipantAuthorizationEvents: null }, left: {} },
  ])('is dropped from $codec.name', ({ codec, wire, left }) => {
    expect(decoded<unknown>(codec, wire)).toStrictEqual(left);
  });

  it.each(['submissionId', 'minLedgerTime', 'transactionFormat'])('in %s of an execution is dropped', (field) => {
    expect(decoded(ExecuteRequest, replaced(execute, field, null))).not.toHaveProperty(field);
  });

  it.each(['minLedgerTime', 'maxRecordTime', 'estimateTrafficCost', 'tapsMaxPasses', 'hashingSchemeVersion'])(
    'in %s of a preparation is dropped',
    (field) => {
      expect(decoded(PrepareRequest, replaced(prepare, field, null))).not.toHaveProperty(field);
    },
  );

  it('inside Daml values is kept', () => {
    const request = decoded(PrepareRequest, sample('requests', 'prepare-minimal', 'pasted'));
    expect(PrepareRequest.encode(request)).toHaveProperty('commands.0.CreateCommand.createArguments.memo', null);
  });
});

describe('a field that is required', () => {
  it.each(['preparedTransaction', 'partySignatures', 'hashingSchemeVersion'])('%s of an execution', (field) => {
    for (const value of [undefined, null])
      expect(problems(ExecuteRequest, replaced(execute, field, value))).toStrictEqual([
        expect.stringMatching(new RegExp(`^${field}: expected `)),
      ]);
  });

  it.each([
    ['commandId', 'LedgerString, 1 to 255 of A-Z a-z 0-9 # : - _ / and space'],
    ['commands', 'at least one command'],
    ['actAs', 'at least one party'],
    ['commands.0.ExerciseCommand.choice', 'string'],
    ['commands.0.ExerciseCommand.choiceArgument', 'a JSON value'],
    ['commands.0.ExerciseCommand.templateId', 'TemplateId, #package-name:Module:Entity or package-id:Module:Entity'],
    ['commands.1.CreateAndExerciseCommand.createArguments', 'a JSON value'],
    ['commands.2.ExerciseByKeyCommand.contractKey', 'a JSON value'],
    ['prefetchContractKeys.0.contractKey', 'a JSON value'],
    ['disclosedContracts.0.createdEventBlob', 'string'],
  ])('%s of a preparation', (path, expected) => {
    expect(problems(PrepareRequest, replaced(prepare, path, undefined))).toStrictEqual([
      `${path}: expected ${expected}`,
    ]);
  });

  it('createArguments of a creation', () => {
    const path = 'commands.0.CreateCommand.createArguments';
    const wire = replaced(sample('requests', 'prepare-minimal', 'pasted'), path, undefined);
    expect(problems(PrepareRequest, wire)).toStrictEqual([`${path}: expected a JSON value`]);
  });

  it.each([
    ['eventFormat', 'EventFormat'],
    ['transactionShape', 'one of TRANSACTION_SHAPE_ACS_DELTA, TRANSACTION_SHAPE_LEDGER_EFFECTS'],
  ])('%s of a transaction format', (path, expected) => {
    const format = { eventFormat: {}, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' };
    expect(problems(TransactionFormat, format)).toStrictEqual([]);
    expect(problems(TransactionFormat, replaced(format, path, undefined))).toStrictEqual([
      `${path}: expected ${expected}`,
    ]);
  });

  it('a list of commands and one of acting parties are not empty', () => {
    expect(problems(PrepareRequest, replaced(prepare, 'commands', []))).toStrictEqual([
      'commands: expected at least one command',
    ]);
    expect(problems(PrepareRequest, replaced(prepare, 'actAs', []))).toStrictEqual([
      'actAs: expected at least one party',
    ]);
  });
});

describe('an unknown field', () => {
  const filter = 'updateFormat.includeTransactions.eventFormat.filtersByParty';
  const [alice = ''] = keysOf(sample('requests', 'updates', 'pasted', ...filter.split('.')));

  it.each([
    'beginInclusive',
    'updateFormat.includeTransaction',
    'updateFormat.includeTransactions.transaction_shape',
    'updateFormat.includeReassignments.filterByParty',
    'updateFormat.includeTopologyEvents.parties',
    'updateFormat.includeTopologyEvents.includeParticipantAuthorizationEvents.party',
    `${filter}.${alice}.cummulative`,
    `${filter}.${alice}.cumulative.0.verbose`,
    `${filter}.${alice}.cumulative.0.identifierFilter.TemplateFilter.value.templateID`,
    `${filter}.${alice}.cumulative.1.identifierFilter.InterfaceFilter.value.includeView`,
    `${filter}.${alice}.cumulative.2.identifierFilter.WildcardFilter.value.templateId`,
    `${filter}.${alice}.cumulative.3.identifierFilter.Empty.value`,
    'constructor',
    'toString',
  ])('%s of a request for updates is refused', (path) => {
    expect(problems(UpdatesRequest, replaced(updates, path, null))).toStrictEqual([
      `${path}: expected no such field here`,
    ]);
  });

  it.each([
    'commandId',
    'partySignatures.party',
    'partySignatures.signatures.0.signature',
    'partySignatures.signatures.0.signatures.0.signedby',
    'deduplicationPeriod.DeduplicationDuration.value.minutes',
    'minLedgerTime.Time',
    'transactionFormat.verbose',
  ])('%s of an execution is refused', (path) => {
    expect(problems(ExecuteRequest, replaced(execute, path, 1))).toStrictEqual([
      `${path}: expected no such field here`,
    ]);
  });

  it.each([
    'submissionId',
    'commands.0.ExerciseCommand.argument',
    'commands.1.CreateAndExerciseCommand.contractId',
    'commands.2.ExerciseByKeyCommand.key',
    'disclosedContracts.0.contractID',
    'prefetchContractKeys.0.key',
    'estimateTrafficCost.enabled',
  ])('%s of a preparation is refused', (path) => {
    expect(problems(PrepareRequest, replaced(prepare, path, 1))).toStrictEqual([
      `${path}: expected no such field here`,
    ]);
  });

  it('is reported beside the other problems', () => {
    expect(problems(UpdatesRequest, { begin: 0, endInclusive: '1' })).toStrictEqual([
      'begin: expected no such field here',
      'endInclusive: expected Offset, a whole number from 0 to 2^53 - 1',
      'beginExclusive: expected Offset, a whole number from 0 to 2^53 - 1',
    ]);
  });

  it('named __proto__ is refused', () => {
    expect(problems(UpdatesRequest, JSON.parse('{"beginExclusive":0,"__proto__":{"verbose":true}}'))).toStrictEqual([
      '__proto__: expected no such field here',
    ]);
  });

  it('makes a value none of the codec', () => {
    expect(UpdatesRequest.is({ beginExclusive: 0 })).toBe(true);
    expect(UpdatesRequest.is({ beginExclusive: 0, begin: 0 })).toBe(false);
  });
});

describe('a party of a filter', () => {
  const PARTY = 'Party, 1 to 255 of A-Z a-z 0-9 : - _ and space';

  it.each(['alice@bank', '', 'ålice', 'a'.repeat(256)])('named %j is refused, not dropped', (party) => {
    const filtersByParty = { [party]: {}, bob: {} };
    const path = party === '' ? 'filtersByParty' : `filtersByParty.${party}`;
    expect(problems(EventFormat, { filtersByParty })).toStrictEqual([`${path}: expected ${PARTY}`]);
    expect(problems(TransactionFilter, { filtersByParty })).toStrictEqual([`${path}: expected ${PARTY}`]);
    expect(EventFormat.is({ filtersByParty })).toBe(false);
  });

  it('may be called __proto__', () => {
    const text = '{"filtersByParty":{"__proto__":{"cumulative":[]}},"verbose":false}';
    const format = decoded(EventFormat, JSON.parse(text));
    expect(JSON.stringify(format)).toBe(text);
    expect(JSON.stringify(EventFormat.encode(format))).toBe(text);
  });

  it.each([[[]], ['x'], [1]])('is not %j', (filtersByParty) => {
    expect(problems(EventFormat, { filtersByParty })).toStrictEqual(['filtersByParty: expected { [Party]: Filters }']);
  });
});

describe('a rule between fields', () => {
  const notBeside = 'updateFormat: expected absent beside filter or verbose';

  it.each([
    [{ updateFormat: {}, filter: {} }, notBeside],
    [{ updateFormat: {}, verbose: true }, notBeside],
    [{ updateFormat: {}, verbose: false }, notBeside],
    [{ updateFormat: {}, filter: {}, verbose: false }, notBeside],
    [{ descendingOrder: true }, 'descendingOrder: expected false without endInclusive'],
    [{ descendingOrder: true, endInclusive: null }, 'descendingOrder: expected false without endInclusive'],
    [{ endInclusive: 4 }, 'endInclusive: expected at or after beginExclusive'],
    [{ endInclusive: 0, descendingOrder: true }, 'endInclusive: expected at or after beginExclusive'],
  ])('refuses %j', (fields, problem) => {
    const request = { beginExclusive: 5, ...fields };
    expect(problems(UpdatesRequest, request)).toStrictEqual([problem]);
    expect(UpdatesRequest.is(request)).toBe(false);
  });

  it('reports every rule that is broken', () => {
    const request = { beginExclusive: 5, endInclusive: 1, updateFormat: {}, filter: {} };
    expect(problems(UpdatesRequest, request)).toStrictEqual([
      notBeside,
      'endInclusive: expected at or after beginExclusive',
    ]);
  });

  it.each([
    { endInclusive: 5 },
    { endInclusive: 6, descendingOrder: true },
    { descendingOrder: false },
    { updateFormat: {}, filter: null, verbose: null },
    { updateFormat: null, filter: {}, verbose: true },
    { filter: {} },
  ])('admits %j', (fields) => {
    expect(problems(UpdatesRequest, { beginExclusive: 5, ...fields })).toStrictEqual([]);
  });
});

describe('a one-of of a request', () => {
  const identifierFilter = 'one of the keys WildcardFilter, TemplateFilter, InterfaceFilter, Empty';
  const deduplicationPeriod = 'one of the keys DeduplicationDuration, DeduplicationOffset, Empty';
  const time = 'one of the keys MinLedgerTimeAbs, MinLedgerTimeRel, Empty';

  it.each([
    { DeduplicationDuration: { value: { seconds: 0, nanos: 1 } } },
    { DeduplicationOffset: { value: 0 } },
    { DeduplicationOffset: { value: 123 } },
    { Empty: {} },
  ])('a deduplication period is %j', (wire) => {
    expect(decoded(DeduplicationPeriod, wire)).toStrictEqual(wire);
    expect(DeduplicationPeriod.encode(decoded(DeduplicationPeriod, wire))).toStrictEqual(wire);
  });

  it.each([
    { MinLedgerTimeAbs: { value: '2026-03-02T08:15:30.000001Z' } },
    { MinLedgerTimeRel: { value: { seconds: 1, nanos: 0 } } },
    { Empty: {} },
  ])('a ledger time is %j', (wire) => {
    expect(decoded(MinLedgerTime, { time: wire })).toStrictEqual({ time: wire });
    expect(MinLedgerTime.encode(decoded(MinLedgerTime, { time: wire }))).toStrictEqual({ time: wire });
  });

  const noOneOf: readonly unknown[] = [
    {},
    null,
    [],
    'Empty',
    { empty: {} },
    { constructor: {} },
    { Empty: {}, DeduplicationOffset: { value: 1 } },
  ];
  it.each(noOneOf)('is not %j', (wire) => {
    expect(problems(DeduplicationPeriod, wire)).toStrictEqual([`expected ${deduplicationPeriod}`]);
    expect(problems(IdentifierFilter, wire)).toStrictEqual([`expected ${identifierFilter}`]);
    expect(problems(MinLedgerTime, { time: wire })).toStrictEqual([`time: expected ${time}`]);
    expect(DeduplicationPeriod.is(wire)).toBe(false);
  });

  it.each([
    { codec: anyCodec(DeduplicationPeriod), wire: { DeduplicationOffset: 5 }, path: 'DeduplicationOffset' },
    {
      codec: anyCodec(DeduplicationPeriod),
      wire: { DeduplicationDuration: { seconds: 5 } },
      path: 'DeduplicationDuration',
    },
    {
      codec: anyCodec(DeduplicationPeriod),
      wire: { DeduplicationOffset: { value: 5, unit: 's' } },
      path: 'DeduplicationOffset',
    },
    { codec: anyCodec(IdentifierFilter), wire: { WildcardFilter: {} }, path: 'WildcardFilter' },
    { codec: anyCodec(IdentifierFilter), wire: { TemplateFilter: { templateId: '#p:M:E' } }, path: 'TemplateFilter' },
  ])('$codec.name wants the value of $path wrapped, not $wire', ({ codec, wire, path }) => {
    const found = problems(codec, wire);
    expect(found).not.toStrictEqual([]);
    expect(found.every((problem) => problem.startsWith(path))).toBe(true);
  });

  it.each([
    { CreateCommand: {}, ExerciseCommand: {} },
    { ArchiveCommand: {} },
    { CreateCommand: { value: { templateId: '#p:M:E', createArguments: {} } } },
  ])('a command is not %j', (command) => {
    expect(problems(PrepareRequest, replaced(prepare, 'commands', [command]))).not.toStrictEqual([]);
  });
});

describe('the signatures of an execution', () => {
  const one = {
    party: 'alice',
    signatures: [sample('requests', 'execute', 'pasted', 'partySignatures', 'signatures', 0, 'signatures', 0)],
  };
  const at = 'partySignatures.signatures';

  it.each([1, 2, 3])('are %d of one party', (count) => {
    const signatures = [{ ...one, signatures: Array.from({ length: count }, () => one.signatures[0]) }];
    expect(problems(ExecuteRequest, replaced(execute, at, signatures))).toStrictEqual([]);
  });

  it.each([
    { signatures: [], path: at, expected: 'exactly one party' },
    {
      signatures: [one, { ...one, party: 'bob' }],
      path: at,
      expected: 'exactly one party',
    },
    { signatures: one, path: at, expected: 'exactly one party' },
    {
      signatures: [{ ...one, signatures: [] }],
      path: `${at}.0.signatures`,
      expected: 'at least one signature',
    },
    { signatures: [{ party: 'alice' }], path: `${at}.0.signatures`, expected: 'at least one signature' },
    {
      signatures: [{ ...one, party: '' }],
      path: `${at}.0.party`,
      expected: 'Party, 1 to 255 of A-Z a-z 0-9 : - _ and space',
    },
  ])('are not $signatures', ({ signatures, path, expected }) => {
    const request = replaced(execute, at, signatures);
    expect(problems(ExecuteRequest, request)).toStrictEqual([`${path}: expected ${expected}`]);
    expect(ExecuteRequest.is(request)).toBe(false);
  });

  it.each([
    [
      'format',
      'SIGNATURE_FORMAT_PEM',
      'one of SIGNATURE_FORMAT_UNSPECIFIED, SIGNATURE_FORMAT_RAW, SIGNATURE_FORMAT_DER, SIGNATURE_FORMAT_CONCAT, SIGNATURE_FORMAT_SYMBOLIC',
    ],
    [
      'signingAlgorithmSpec',
      'ED25519',
      'one of SIGNING_ALGORITHM_SPEC_UNSPECIFIED, SIGNING_ALGORITHM_SPEC_ED25519, SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256, SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384, SIGNING_ALGORITHM_SPEC_ML_DSA_65',
    ],
    ['signature', 'ff0', 'padded Base64'],
    ['signature', '', 'padded Base64'],
    ['signedBy', 1, 'string'],
  ])('have no %s %j', (field, value, expected) => {
    const path = `${at}.0.signatures.0.${field}`;
    expect(problems(ExecuteRequest, replaced(execute, path, value))).toStrictEqual([`${path}: expected ${expected}`]);
  });
});

describe('a request of a class', () => {
  class Bounded {
    readonly beginExclusive = 1;
    readonly updateFormat = sample('requests', 'updates', 'pasted', 'updateFormat');
    readonly #end: number;
    constructor(end: number) {
      this.#end = end;
    }
    get endInclusive(): number {
      return this.#end;
    }
  }

  it('is read with its accessors', () => {
    const result = UpdatesRequest.decode(new Bounded(9));
    expect(result).toMatchObject({ _tag: 'Right', right: { beginExclusive: 1, endInclusive: 9 } });
  });

  it('is refused for what they give', () => {
    expect(problems(UpdatesRequest, new Bounded(0.5))).toStrictEqual([
      'endInclusive: expected Offset, a whole number from 0 to 2^53 - 1',
    ]);
  });
});
