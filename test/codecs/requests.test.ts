import { describe, expect, it } from '@jest/globals';
import { DeduplicationPeriod, ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { Filters, TransactionFilter } from '../../src/codecs/Filters.js';
import { MinLedgerTime } from '../../src/codecs/MinLedgerTime.js';
import { CommandsRequest, DisclosedContract, PrepareRequest } from '../../src/codecs/SubmissionRequest.js';
import { EventFormat, TransactionFormat, UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import { anyCodec, type AnyCodec, decode, keysOf, problemsIn, replaceAt, sample } from './support.js';

/** The requests of the samples. */
const pasted = {
  updates: { codec: anyCodec(UpdatesRequest), wire: sample('requests', 'updates', 'pasted') },
  execute: { codec: anyCodec(ExecuteRequest), wire: sample('requests', 'execute', 'pasted') },
  prepare: { codec: anyCodec(PrepareRequest), wire: sample('requests', 'prepare', 'pasted') },
  create: { codec: anyCodec(PrepareRequest), wire: sample('requests', 'prepare-minimal', 'pasted') },
  format: {
    codec: anyCodec(TransactionFormat),
    wire: { eventFormat: {}, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
  },
};
type Name = keyof typeof pasted;
const [execute, prepare] = [pasted.execute.wire, pasted.prepare.wire];

const filters = (identifierFilter: unknown): object => ({ cumulative: [{ identifierFilter }] });
const filterPath = 'cumulative.0.identifierFilter';
const PARTY = 'Party, 1 to 255 of A-Z a-z 0-9 : - _ and space';

describe('an absent scalar', () => {
  const flag = { includeCreatedEventBlob: false };
  const templateId = '#p:M:E';

  it.each<[string, AnyCodec, object, object]>([
    ['filtersByParty and verbose', anyCodec(EventFormat), {}, { filtersByParty: {}, verbose: false }],
    ['filtersByParty of a filter', anyCodec(TransactionFilter), {}, { filtersByParty: {} }],
    ['cumulative', anyCodec(Filters), {}, { cumulative: [] }],
    [
      'includeCreatedEventBlob of a wildcard',
      anyCodec(Filters),
      filters({ WildcardFilter: { value: {} } }),
      filters({ WildcardFilter: { value: flag } }),
    ],
    [
      'includeCreatedEventBlob of a template',
      anyCodec(Filters),
      filters({ TemplateFilter: { value: { templateId } } }),
      filters({ TemplateFilter: { value: { templateId, ...flag } } }),
    ],
    [
      'includeInterfaceView',
      anyCodec(Filters),
      filters({ InterfaceFilter: { value: { interfaceId: templateId, includeCreatedEventBlob: null } } }),
      filters({ InterfaceFilter: { value: { interfaceId: templateId, includeInterfaceView: false, ...flag } } }),
    ],
    [
      'parties',
      anyCodec(UpdateFormat),
      { includeTopologyEvents: { includeParticipantAuthorizationEvents: {} } },
      { includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } } },
    ],
    [
      'nanos of a deduplication period',
      anyCodec(DeduplicationPeriod),
      { DeduplicationDuration: { value: { seconds: 600 } } },
      { DeduplicationDuration: { value: { seconds: 600, nanos: 0 } } },
    ],
    [
      'nanos of a ledger time',
      anyCodec(MinLedgerTime),
      { time: { MinLedgerTimeRel: { value: { seconds: 5, nanos: null, unknownFields: { fields: {} } } } } },
      { time: { MinLedgerTimeRel: { value: { seconds: 5, nanos: 0 } } } },
    ],
    [
      'synchronizerId of a disclosed contract',
      anyCodec(DisclosedContract),
      { contractId: '00', createdEventBlob: 'AAAA', templateId: null },
      { contractId: '00', createdEventBlob: 'AAAA', synchronizerId: '' },
    ],
    [
      'contractId of a disclosed contract',
      anyCodec(DisclosedContract),
      { createdEventBlob: 'AAAA', synchronizerId: 's::1220' },
      { createdEventBlob: 'AAAA', contractId: '', synchronizerId: 's::1220' },
    ],
    ['time', anyCodec(MinLedgerTime), {}, { time: { Empty: {} } }],
    ['time that is null', anyCodec(MinLedgerTime), { time: null }, { time: { Empty: {} } }],
    ['identifierFilter', anyCodec(Filters), { cumulative: [{}] }, filters({ Empty: {} })],
    ['identifierFilter that is null', anyCodec(Filters), filters(null), filters({ Empty: {} })],
    [
      'descendingOrder, but not verbose with updateFormat',
      anyCodec(UpdatesRequest),
      { beginExclusive: 0, updateFormat: {} },
      { beginExclusive: 0, descendingOrder: false, updateFormat: {} },
    ],
    [
      'verbose with filter',
      anyCodec(UpdatesRequest),
      { beginExclusive: 0, filter: {}, verbose: null },
      { beginExclusive: 0, descendingOrder: false, filter: { filtersByParty: {} }, verbose: false },
    ],
  ])('is sent: %s', (_, codec, wire, sent) => {
    expect(decode(codec, wire)).toStrictEqual(sent);
  });

  it.each([undefined, null])('of an execution and of a preparation is sent in place of %p', (value) => {
    const without = replaceAt(replaceAt(execute, 'userId', value), 'deduplicationPeriod', value);
    expect(decode(ExecuteRequest, without)).toMatchObject({ userId: '', deduplicationPeriod: { Empty: {} } });
    const wire = replaceAt(prepare, 'estimateTrafficCost', { expectedSignatures: value });
    const estimateTrafficCost = { disabled: false, expectedSignatures: [] };
    expect(decode(PrepareRequest, wire)).toMatchObject({ estimateTrafficCost });
  });
});

describe('a field', () => {
  it('that is null within Daml values is kept', () => {
    const request = decode(PrepareRequest, pasted.create.wire);
    expect(PrepareRequest.encode(request)).toHaveProperty('commands.0.CreateCommand.createArguments.memo', null);
  });

  it('of the limit of a prefetched key is sent', () => {
    const path = 'prefetchContractKeys.0.limit';
    expect(PrepareRequest.encode(decode(PrepareRequest, replaceAt(prepare, path, 20)))).toHaveProperty(path, 20);
  });

  const limit = 'Limit, a whole number from 1 to 2^31 - 1';
  const json = 'a JSON value';
  const signature = 'partySignatures.signatures.0.signatures.0';

  it.each<[Name, string, unknown, string]>([
    ...[0, -1, 1.5, '3', 2 ** 31].map((value): [Name, string, unknown, string] => [
      'prepare',
      'prefetchContractKeys.0.limit',
      value,
      limit,
    ]),
    ...[undefined, null].flatMap((value): [Name, string, unknown, string][] => [
      ['execute', 'preparedTransaction', value, 'padded Base64'],
      ['execute', 'partySignatures', value, 'PartySignatures'],
      ['execute', 'hashingSchemeVersion', value, 'HASHING_SCHEME_VERSION_V2, _V3 or newer'],
    ]),
    ['prepare', 'commandId', undefined, 'LedgerString, 1 to 255 of A-Z a-z 0-9 # : . - _ / and space'],
    ['prepare', 'commands', undefined, 'at least one command'],
    ['prepare', 'commands', [], 'at least one command'],
    ['prepare', 'actAs', undefined, 'at least one party'],
    ['prepare', 'actAs', [], 'at least one party'],
    ['prepare', 'commands.0.ExerciseCommand.choice', undefined, 'string'],
    ['prepare', 'commands.0.ExerciseCommand.choiceArgument', undefined, json],
    [
      'prepare',
      'commands.0.ExerciseCommand.templateId',
      undefined,
      'TemplateId, #package-name:Module:Entity or package-id:Module:Entity',
    ],
    ['prepare', 'commands.1.CreateAndExerciseCommand.createArguments', undefined, json],
    ['prepare', 'commands.2.ExerciseByKeyCommand.contractKey', undefined, json],
    ['prepare', 'prefetchContractKeys.0.contractKey', undefined, json],
    ['prepare', 'disclosedContracts.0.createdEventBlob', undefined, 'string'],
    ['create', 'commands.0.CreateCommand.createArguments', undefined, json],
    ['format', 'eventFormat', undefined, 'EventFormat'],
    ['format', 'transactionShape', undefined, 'one of TRANSACTION_SHAPE_ACS_DELTA, TRANSACTION_SHAPE_LEDGER_EFFECTS'],
    [
      'execute',
      `${signature}.format`,
      'SIGNATURE_FORMAT_PEM',
      'one of SIGNATURE_FORMAT_UNSPECIFIED, SIGNATURE_FORMAT_RAW, SIGNATURE_FORMAT_DER, SIGNATURE_FORMAT_CONCAT, SIGNATURE_FORMAT_SYMBOLIC',
    ],
    [
      'execute',
      `${signature}.signingAlgorithmSpec`,
      'ED25519',
      'one of SIGNING_ALGORITHM_SPEC_UNSPECIFIED, SIGNING_ALGORITHM_SPEC_ED25519, SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256, SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384, SIGNING_ALGORITHM_SPEC_ML_DSA_65',
    ],
    ['execute', `${signature}.signature`, 'ff0', 'padded Base64'],
    ['execute', `${signature}.signature`, '', 'padded Base64'],
    ['execute', `${signature}.signedBy`, 1, 'string'],
  ])('of %s is checked: %s is not %j', (name, path, value, expected) => {
    const { codec, wire } = pasted[name];
    expect(problemsIn(codec, replaceAt(wire, path, value))).toStrictEqual([`${path}: expected ${expected}`]);
  });
});

describe('an unknown field', () => {
  const filter = 'updateFormat.includeTransactions.eventFormat.filtersByParty';
  const [alice = ''] = keysOf(sample('requests', 'updates', 'pasted', ...filter.split('.')));
  const cumulative = `${filter}.${alice}.cumulative`;
  const unknown: Readonly<Record<'updates' | 'execute' | 'prepare', readonly string[]>> = {
    updates: [
      'beginInclusive',
      'updateFormat.includeTransaction',
      'updateFormat.includeTransactions.transaction_shape',
      'updateFormat.includeReassignments.filterByParty',
      'updateFormat.includeTopologyEvents.parties',
      'updateFormat.includeTopologyEvents.includeParticipantAuthorizationEvents.party',
      `${filter}.${alice}.cummulative`,
      `${cumulative}.0.verbose`,
      `${cumulative}.0.identifierFilter.TemplateFilter.value.templateID`,
      `${cumulative}.1.identifierFilter.InterfaceFilter.value.includeView`,
      `${cumulative}.2.identifierFilter.WildcardFilter.value.templateId`,
      `${cumulative}.3.identifierFilter.Empty.value`,
      'constructor',
      'toString',
    ],
    execute: [
      'commandId',
      'partySignatures.party',
      'partySignatures.signatures.0.signature',
      'partySignatures.signatures.0.signatures.0.signedby',
      'deduplicationPeriod.DeduplicationDuration.value.minutes',
      'minLedgerTime.Time',
      'transactionFormat.verbose',
    ],
    prepare: [
      'submissionId',
      'commands.0.ExerciseCommand.argument',
      'commands.1.CreateAndExerciseCommand.contractId',
      'commands.2.ExerciseByKeyCommand.key',
      'disclosedContracts.0.contractID',
      'prefetchContractKeys.0.key',
      'estimateTrafficCost.enabled',
    ],
  };
  const rows = (['updates', 'execute', 'prepare'] as const).flatMap((name) =>
    unknown[name].map((path) => [name, path] as const),
  );

  it.each(rows)('of %s is rejected: %s', (name, path) => {
    const { codec, wire } = pasted[name];
    for (const value of [null, 1])
      expect(problemsIn(codec, replaceAt(wire, path, value))).toStrictEqual([`${path}: expected no such field`]);
  });

  it('is reported with the other problems', () => {
    expect(problemsIn(UpdatesRequest, { begin: 0, endInclusive: '1' })).toStrictEqual([
      'begin: expected no such field',
      'endInclusive: expected Offset, a whole number from 0 to 2^53 - 1',
      'beginExclusive: expected Offset, a whole number from 0 to 2^53 - 1',
    ]);
  });

  it('named __proto__ is rejected', () => {
    expect(problemsIn(UpdatesRequest, JSON.parse('{"beginExclusive":0,"__proto__":{"verbose":true}}'))).toStrictEqual([
      '__proto__: expected no such field',
    ]);
  });

  it('makes is() return false', () => {
    expect(UpdatesRequest.is({ beginExclusive: 0 })).toBe(true);
    expect(UpdatesRequest.is({ beginExclusive: 0, begin: 0 })).toBe(false);
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

  it('is decoded with its accessors', () => {
    const result = UpdatesRequest.decode(new Bounded(9));
    expect(result).toMatchObject({ _tag: 'Right', right: { beginExclusive: 1, endInclusive: 9 } });
    expect(problemsIn(UpdatesRequest, new Bounded(0.5))).toStrictEqual([
      'endInclusive: expected Offset, a whole number from 0 to 2^53 - 1',
    ]);
  });
});

describe('a party of a filter', () => {
  it.each(['alice@bank', '', 'ålice', 'a'.repeat(256)])('named %j is rejected, not dropped', (party) => {
    const filtersByParty = { [party]: {}, bob: {} };
    const path = party === '' ? 'filtersByParty' : `filtersByParty.${party}`;
    expect(problemsIn(EventFormat, { filtersByParty })).toStrictEqual([`${path}: expected ${PARTY}`]);
    expect(problemsIn(TransactionFilter, { filtersByParty })).toStrictEqual([`${path}: expected ${PARTY}`]);
    expect(EventFormat.is({ filtersByParty })).toBe(false);
  });

  it('may be called __proto__', () => {
    const text = '{"filtersByParty":{"__proto__":{"cumulative":[]}},"verbose":false}';
    const format = decode(EventFormat, JSON.parse(text));
    expect(JSON.stringify(format)).toBe(text);
    expect(JSON.stringify(EventFormat.encode(format))).toBe(text);
  });

  it.each([[[]], ['x'], [1]])('is not %j', (filtersByParty) => {
    expect(problemsIn(EventFormat, { filtersByParty })).toStrictEqual([
      'filtersByParty: expected { [Party]: Filters }',
    ]);
  });
});

describe('a rule between fields', () => {
  const notTogether = 'updateFormat: expected absent with filter or verbose';

  it.each([
    [{ updateFormat: {}, filter: {} }, notTogether],
    [{ updateFormat: {}, verbose: true }, notTogether],
    [{ updateFormat: {}, verbose: false }, notTogether],
    [{ updateFormat: {}, filter: {}, verbose: false }, notTogether],
    [{ descendingOrder: true }, 'descendingOrder: expected false without endInclusive'],
    [{ descendingOrder: true, endInclusive: null }, 'descendingOrder: expected false without endInclusive'],
    [{ endInclusive: 4 }, 'endInclusive: expected at or after beginExclusive'],
    [{ endInclusive: 0, descendingOrder: true }, 'endInclusive: expected at or after beginExclusive'],
  ])('rejects %j', (fields, problem) => {
    const request = { beginExclusive: 5, ...fields };
    expect(problemsIn(UpdatesRequest, request)).toStrictEqual([problem]);
    expect(UpdatesRequest.is(request)).toBe(false);
  });

  it('reports every violated rule', () => {
    const request = { beginExclusive: 5, endInclusive: 1, updateFormat: {}, filter: {} };
    expect(problemsIn(UpdatesRequest, request)).toStrictEqual([
      notTogether,
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
  ])('accepts %j', (fields) => {
    expect(problemsIn(UpdatesRequest, { beginExclusive: 5, ...fields })).toStrictEqual([]);
  });
});

describe('a one-of in a request', () => {
  const identifierFilter = 'one of the keys WildcardFilter, TemplateFilter, InterfaceFilter, Empty';
  const deduplicationPeriod = 'one of the keys DeduplicationDuration, DeduplicationOffset, Empty';
  const time = 'one of the keys MinLedgerTimeAbs, MinLedgerTimeRel, Empty';

  it.each([
    { DeduplicationDuration: { value: { seconds: 0, nanos: 1 } } },
    { DeduplicationOffset: { value: 0 } },
    { DeduplicationOffset: { value: 123 } },
    { Empty: {} },
  ])('a deduplication period is %j', (wire) => {
    expect(decode(DeduplicationPeriod, wire)).toStrictEqual(wire);
    expect(DeduplicationPeriod.encode(decode(DeduplicationPeriod, wire))).toStrictEqual(wire);
  });

  it.each([
    { MinLedgerTimeAbs: { value: '2026-03-02T08:15:30.000001Z' } },
    { MinLedgerTimeRel: { value: { seconds: 1, nanos: 0 } } },
    { Empty: {} },
  ])('a ledger time is %j', (wire) => {
    expect(decode(MinLedgerTime, { time: wire })).toStrictEqual({ time: wire });
    expect(MinLedgerTime.encode(decode(MinLedgerTime, { time: wire }))).toStrictEqual({ time: wire });
  });

  const noOneOf: readonly unknown[] = [
    {},
    [],
    'Empty',
    { empty: {} },
    { constructor: {} },
    { Empty: {}, DeduplicationOffset: { value: 1 } },
  ];
  it.each(noOneOf)('is not %j', (wire) => {
    expect(problemsIn(DeduplicationPeriod, wire)).toStrictEqual([`expected ${deduplicationPeriod}`]);
    expect(problemsIn(Filters, filters(wire))).toStrictEqual([`${filterPath}: expected ${identifierFilter}`]);
    expect(problemsIn(MinLedgerTime, { time: wire })).toStrictEqual([`time: expected ${time}`]);
    expect(DeduplicationPeriod.is(wire)).toBe(false);
  });

  it('is not null itself', () => {
    expect(problemsIn(DeduplicationPeriod, null)).toStrictEqual([`expected ${deduplicationPeriod}`]);
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
    { codec: anyCodec(Filters), wire: filters({ WildcardFilter: {} }), path: `${filterPath}.WildcardFilter` },
    {
      codec: anyCodec(Filters),
      wire: filters({ TemplateFilter: { templateId: '#p:M:E' } }),
      path: `${filterPath}.TemplateFilter`,
    },
  ])('$codec.name requires the envelope of $path, not $wire', ({ codec, wire, path }) => {
    const found = problemsIn(codec, wire);
    expect(found).not.toStrictEqual([]);
    expect(found.every((problem) => problem.startsWith(path))).toBe(true);
  });

  it.each([
    { CreateCommand: {}, ExerciseCommand: {} },
    { ArchiveCommand: {} },
    { CreateCommand: { value: { templateId: '#p:M:E', createArguments: {} } } },
  ])('a command is not %j', (command) => {
    expect(problemsIn(PrepareRequest, replaceAt(prepare, 'commands', [command]))).not.toStrictEqual([]);
  });
});

describe('a template or an interface in a filter', () => {
  const idsOf = (id: string): readonly string[] => [
    ...problemsIn(Filters, filters({ TemplateFilter: { value: { templateId: id } } })),
    ...problemsIn(Filters, filters({ InterfaceFilter: { value: { interfaceId: id } } })),
  ];

  it.each(['#finance:Main:Iou', `${'0a'.repeat(32)}:Main:Iou`])('is %s', (id) => {
    expect(idsOf(id)).toEqual([]);
  });

  it('has a package name with its #: without it, the ledger would select nothing', () => {
    const expected =
      'expected TemplateId, #package-name:Module:Entity or package-id:Module:Entity, with an id of 64 hex digits';
    expect(idsOf('finance:Main:Iou')).toEqual([
      `${filterPath}.TemplateFilter.value.templateId: ${expected}`,
      `${filterPath}.InterfaceFilter.value.interfaceId: ${expected}`,
    ]);
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
    expect(problemsIn(ExecuteRequest, replaceAt(execute, at, signatures))).toStrictEqual([]);
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
      expected: PARTY,
    },
  ])('are not $signatures', ({ signatures, path, expected }) => {
    const request = replaceAt(execute, at, signatures);
    expect(problemsIn(ExecuteRequest, request)).toStrictEqual([`${path}: expected ${expected}`]);
    expect(ExecuteRequest.is(request)).toBe(false);
  });
});

const sampleCommands = [{ CreateCommand: { templateId: '#a:B:C', createArguments: {} } }];

describe('a disclosed contract', () => {
  const sent = {
    templateId: `${'a1'.repeat(32)}:Splice.AmuletRules:AmuletRules`,
    contractId: '00ab',
    createdEventBlob: 'CgMyLjE=',
    synchronizerId: 'global-domain::1220ab',
  };

  it.each<[string, object]>([
    ['for debugging', { debugPackageName: null, debugPayload: { owner: 'alice' }, debugCreatedAt: null }],
    ['of releases before 3.3', { domainId: '' }],
    ['of a later release', { createdAt: '2026-01-01T00:00:00Z', metadata: {} }],
  ])('of a registry is sent without its fields %s', (_, fields) => {
    expect(decode(DisclosedContract, { ...sent, ...fields })).toStrictEqual(sent);
    const request = { ...(prepare as object), disclosedContracts: [{ ...fields, ...sent }] };
    expect(decode(PrepareRequest, request).disclosedContracts).toStrictEqual([sent]);
    const commands = { actAs: ['a'], commands: sampleCommands, disclosedContracts: [{ ...fields, ...sent }] };
    expect(decode(CommandsRequest, commands).disclosedContracts).toStrictEqual([sent]);
  });

  it('of an unknown synchronizer has an empty one', () => {
    for (const synchronizerId of ['', null, undefined])
      expect(decode(DisclosedContract, { ...sent, synchronizerId })).toStrictEqual({ ...sent, synchronizerId: '' });
  });

  it.each([
    ['createdEventBlob', undefined, 'string'],
    ['createdEventBlob', null, 'string'],
    ['createdEventBlob', '', 'a string that is not empty'],
    ['contractId', 7, 'string'],
    ['contract_id', '00ab', 'no such field'],
    ['templateID', sent.templateId, 'no such field'],
    ['synchronizerId', 7, 'string'],
  ])('with a mistake is refused: %s is %j', (field, value, expected) => {
    expect(problemsIn(DisclosedContract, { ...sent, [field]: value })).toStrictEqual([
      `${field}: expected ${expected}`,
    ]);
  });

  it('that is none is refused', () => {
    expect(problemsIn(DisclosedContract, null)).toStrictEqual(['expected DisclosedContract']);
  });
});

describe('an id with a dot', () => {
  it.each(['commandId', 'workflowId'])('is valid as the %s of commands', (field) => {
    const request = { actAs: ['a'], commands: sampleCommands, [field]: 'order-1.2' };
    expect(problemsIn(CommandsRequest, request)).toStrictEqual([]);
  });

  it('is valid for a preparation and an execution, but not as a party', () => {
    expect(problemsIn(PrepareRequest, replaceAt(prepare, 'commandId', 'order-1.2'))).toStrictEqual([]);
    expect(problemsIn(ExecuteRequest, replaceAt(execute, 'submissionId', 'v1.2/a#b:c d_e'))).toStrictEqual([]);
    expect(problemsIn(PrepareRequest, replaceAt(prepare, 'actAs.0', 'alice.b'))).toHaveLength(1);
  });
});
