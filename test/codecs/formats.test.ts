import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { acsDelta, type FormatOptions, ledgerEffects, UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import { partyArbitrary, templateIdArbitrary } from '../helpers/arbitraries/index.js';
import { decode, toEntries } from './support.js';

const wildcard = { identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } };
const builders = [
  { build: acsDelta, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
  { build: ledgerEffects, transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS' },
];

describe.each(builders)('$build.name', ({ build, transactionShape }) => {
  it('selects everything that the parties see', () => {
    const eventFormat = {
      filtersByParty: { alice: { cumulative: [wildcard] }, bob: { cumulative: [wildcard] } },
      verbose: false,
    };
    expect(build({ parties: ['alice', 'bob'] })).toStrictEqual({
      includeTransactions: { eventFormat, transactionShape },
      includeReassignments: eventFormat,
      includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: ['alice', 'bob'] } },
    });
  });

  it('throws for the name of a package without #, which is also a type error', () => {
    const mistake = new TypeError("'finance:Main:Iou' is not a template id: did you mean '#finance:Main:Iou'?");
    // @ts-expect-error -- did you mean '#finance:Main:Iou'?
    expect(() => build({ parties: 'any', templates: ['#a:Main:Iou', 'finance:Main:Iou'] })).toThrow(mistake);
    // @ts-expect-error -- did you mean '#finance:Main:Iou'?
    expect(() => build({ parties: 'any', interfaces: ['finance:Main:Iou'] })).toThrow(mistake);
  });

  it('selects everything that any party sees', () => {
    const eventFormat = { filtersByParty: {}, filtersForAnyParty: { cumulative: [wildcard] }, verbose: false };
    expect(build({ parties: 'any' })).toStrictEqual({
      includeTransactions: { eventFormat, transactionShape },
      includeReassignments: eventFormat,
      includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } },
    });
  });

  it('selects templates and interfaces instead of everything', () => {
    const cumulative = [
      { identifierFilter: { TemplateFilter: { value: { templateId: '#p:M:A', includeCreatedEventBlob: false } } } },
      { identifierFilter: { TemplateFilter: { value: { templateId: '#p:M:B', includeCreatedEventBlob: false } } } },
      {
        identifierFilter: {
          InterfaceFilter: {
            value: { interfaceId: '#i:M:I', includeInterfaceView: true, includeCreatedEventBlob: false },
          },
        },
      },
    ];
    const format = build({ parties: ['alice'], templates: ['#p:M:A', '#p:M:B'], interfaces: ['#i:M:I'] });
    const eventFormat = { filtersByParty: { alice: { cumulative } }, verbose: false };
    expect(format.includeTransactions).toStrictEqual({ eventFormat, transactionShape });
    expect(format.includeReassignments).toStrictEqual(eventFormat);
  });

  it('passes the flags to every filter', () => {
    const format = build({
      parties: 'any',
      templates: ['#p:M:A'],
      interfaces: ['#i:M:I'],
      includeCreatedEventBlob: true,
      includeInterfaceView: false,
      verbose: true,
    });
    const value = { includeCreatedEventBlob: true };
    expect(format.includeTransactions?.eventFormat).toStrictEqual({
      filtersByParty: {},
      filtersForAnyParty: {
        cumulative: [
          { identifierFilter: { TemplateFilter: { value: { templateId: '#p:M:A', ...value } } } },
          {
            identifierFilter: {
              InterfaceFilter: { value: { interfaceId: '#i:M:I', includeInterfaceView: false, ...value } },
            },
          },
        ],
      },
      verbose: true,
    });
    expect(build({ parties: ['a'], includeCreatedEventBlob: true }).includeReassignments).toStrictEqual({
      filtersByParty: { a: { cumulative: [{ identifierFilter: { WildcardFilter: { value } } }] } },
      verbose: false,
    });
  });

  it('omits what is not selected', () => {
    expect(Object.keys(build({ parties: ['a'], reassignments: false }))).toStrictEqual([
      'includeTransactions',
      'includeTopologyEvents',
    ]);
    expect(Object.keys(build({ parties: ['a'], topology: false }))).toStrictEqual([
      'includeTransactions',
      'includeReassignments',
    ]);
    expect(Object.keys(build({ parties: 'any', topology: false, reassignments: false }))).toStrictEqual([
      'includeTransactions',
    ]);
  });

  it('builds a format that decodes to itself', () => {
    const options = fc.record<FormatOptions, 'parties'>(
      {
        parties: fc.oneof(fc.constant<'any'>('any'), fc.array(partyArbitrary, { minLength: 1, maxLength: 3 })),
        templates: fc.array(templateIdArbitrary, { maxLength: 2 }),
        interfaces: fc.array(templateIdArbitrary, { maxLength: 2 }),
        includeCreatedEventBlob: fc.boolean(),
        includeInterfaceView: fc.boolean(),
        verbose: fc.boolean(),
        reassignments: fc.boolean(),
        topology: fc.boolean(),
      },
      { requiredKeys: ['parties'], noNullPrototype: true },
    );
    fc.assert(
      fc.property(options, (some) => {
        const updateFormat = build(some);
        expect(toEntries(decode(UpdateFormat, updateFormat))).toStrictEqual(toEntries(updateFormat));
        expect(toEntries(UpdatesRequest.encode({ beginExclusive: 0, updateFormat }))).toStrictEqual(
          toEntries({ beginExclusive: 0, descendingOrder: false, updateFormat }),
        );
      }),
    );
  });
});

describe('a format of a party that is absent', () => {
  it.each<unknown>([[['alice::1220ab', undefined]], [[null]], [[7]], 'alice::1220ab', undefined, null])(
    'throws, because the text of what is absent is a party id: %j',
    (parties) => {
      for (const format of [acsDelta, ledgerEffects])
        expect(() => format({ parties: parties as string[] })).toThrow(
          new TypeError("parties must be a list of party ids, or 'any'"),
        );
    },
  );
});

describe('a format without parties', () => {
  it.each([acsDelta, ledgerEffects])('throws, because the ledger would read it as every party', (format) => {
    expect(() => format({ parties: [] })).toThrow(TypeError);
  });
});
