import { describe, expect, it } from '@jest/globals';
import { DeduplicationPeriod, ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { Filters, TransactionFilter } from '../../src/codecs/Filters.js';
import { MinLedgerTime } from '../../src/codecs/MinLedgerTime.js';
import { PrepareRequest } from '../../src/codecs/SubmissionRequest.js';
import { EventFormat } from '../../src/codecs/UpdateFormat.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import { anyCodec, decode, problemsIn, replaceAt, sample } from './support.js';

const execute = sample('requests', 'execute', 'pasted');
const prepare = sample('requests', 'prepare', 'pasted');
const filters = (identifierFilter: unknown): object => ({ cumulative: [{ identifierFilter }] });
const filterPath = 'cumulative.0.identifierFilter';

describe('a party of a filter', () => {
  const PARTY = 'Party, 1 to 255 of A-Z a-z 0-9 : - _ and space';

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
    null,
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
      expected: 'Party, 1 to 255 of A-Z a-z 0-9 : - _ and space',
    },
  ])('are not $signatures', ({ signatures, path, expected }) => {
    const request = replaceAt(execute, at, signatures);
    expect(problemsIn(ExecuteRequest, request)).toStrictEqual([`${path}: expected ${expected}`]);
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
    expect(problemsIn(ExecuteRequest, replaceAt(execute, path, value))).toStrictEqual([
      `${path}: expected ${expected}`,
    ]);
  });
});
