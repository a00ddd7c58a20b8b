import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import type { AnyContract, ContractTypes, UndecodedContract } from '../../src/contracts/Contract.js';
import { makeContract } from '../../src/contracts/Contract.js';
import { type Activation, active, marble } from '../helpers/contractEvents.js';
import { decodeEntry } from '../helpers/foldLaw.js';

const sync = 'sync-a::1220ab';
const createArgument = { color: 'black', size: 7 };
const Marble = contractType(marble, t.type({ color: t.string, size: t.number }));
const Toy = interfaceType('#toys:Toys:Toy', t.type({ label: t.string }));
const Int = new t.Type<bigint, string, unknown>(
  'Int',
  (u): u is bigint => typeof u === 'bigint',
  (u, context) => (typeof u === 'string' ? t.success(BigInt(u)) : t.failure(u, context)),
  String,
);
const toyView = { interfaceId: '1220ee:Toys:Toy', viewStatus: { code: 0 }, viewValue: { label: 'ball' } };
const failedView = { interfaceId: '1220ee:Toys:Toy', viewStatus: { code: 9, message: 'no package' }, viewValue: null };

// how types match and decode, the tests of contractType say
describe('makeContract: types', () => {
  it('has the facts of the created event, and decodes its arguments', () => {
    const contract = made({ marble: Marble }, {});
    expect(contract).toMatchObject({
      _tag: 'Contract',
      type: 'marble',
      payload: { color: 'black', size: 7 },
      contractId: 'cid',
      location: { synchronizerId: sync },
      reassignmentCounter: 2,
      offset: 7,
      createdAt: '2026-07-24T10:00:00Z',
      templateId: '1220aaaa:Marbles:Marble',
      packageName: 'marbles',
      signatories: ['alice::1220ab'],
      observers: [],
      createdEvent: { contractId: 'cid', createArgument: { color: 'black' } },
    });
  });

  it('has the first type that a contract matches', () => {
    expect(made({ toy: Toy, marble: Marble }, { interfaceViews: [toyView] })?.type).toBe('toy');
    expect(made({ marble: Marble, toy: Toy }, { interfaceViews: [toyView] })?.type).toBe('marble');
    expect(made({ toy: Toy, marble: Marble }, {})?.type).toBe('marble');
  });

  it('takes no view of an interface for that of another package', () => {
    const Other = interfaceType('#other-toys:Toys:Toy', t.type({ label: t.string }));
    const message =
      'the interfaces #toys:Toys:Toy and #other-toys:Toys:Toy cannot be distinguished: read them separately';
    expect(() => made({ toy: Toy, other: Other }, { interfaceViews: [toyView] })).toThrow(new TypeError(message));
    const byId = interfaceType(`${'ab'.repeat(32)}:Toys:Toy`, t.type({ label: t.string }));
    for (const types of [
      { toy: Toy, byId },
      { byId, toy: Toy },
    ])
      expect(() => made(types, {})).toThrow(/^the interfaces #toys:Toys:Toy and abab.* cannot be distinguished/);
    const otherId = interfaceType(`${'cd'.repeat(32)}:Toys:Toy`, t.type({ label: t.string }));
    expect(made({ byId, otherId, marble: Marble }, {})?.type).toBe('marble');
    const Doll = interfaceType('#other-toys:Toys:Doll', t.type({ label: t.string }));
    expect(made({ doll: Doll, toy: Toy, same: Toy }, { interfaceViews: [toyView] })?.type).toBe('toy');
  });

  it('has every contract as it is without types', () => {
    for (const types of [undefined, {}]) {
      expect(made(types, {})).toMatchObject({ type: marble, payload: { color: 'black', size: 7 } });
    }
  });
});

describe('makeContract: decoding', () => {
  it('keeps what does not decode, without its value in the problems, and reports it once (pitfall 39) (G32)', () => {
    const reported: UndecodedContract[] = [];
    const argument = { color: 'secret', size: 'secret' };
    const contract = made({ marble: Marble }, { createArgument: argument }, (undecoded) => reported.push(undecoded));
    const problems = [{ path: 'createArgument.size', expected: 'number' }];
    expect(contract).toMatchObject({ _tag: 'UndecodedContract', expectedType: 'marble', argument, problems });
    expect(reported).toHaveLength(1);
    expect(reported[0]).toBe(contract);
  });

  it('names the keys of a payload in its problems so that they control nothing that shows them', () => {
    const key = 'a\u001b[2J\u202e';
    const Keyed = contractType(marble, t.type({ [key]: t.string }));
    expect(made({ marble: Keyed }, {})).toMatchObject({
      problems: [{ path: 'createArgument.a\\u{1b}[2J\\u{202e}', expected: 'string' }],
    });
  });

  it('shows a view that failed, with its status (pitfall 40) (G32)', () => {
    const contract = made({ toy: Toy }, { interfaceViews: [failedView] });
    expect(contract).toMatchObject({
      _tag: 'UndecodedContract',
      expectedType: 'toy',
      viewStatus: { code: 9, message: 'no package' },
      contractId: 'cid',
      problems: [expect.anything()],
    });
    expect(JSON.parse(JSON.stringify(contract))).not.toHaveProperty('argument');
  });
});

describe('makeContract: plain data', () => {
  const Holding = contractType(marble, t.type({ color: t.string, size: Int }));
  const kinds = [
    ['a contract', made({ marble: Marble }, {})],
    ['one that does not decode', made({ marble: Marble }, { createArgument: { color: 'red' } })],
    ['one whose view failed', made({ toy: Toy }, { interfaceViews: [failedView] })],
    ['one without a type', made(undefined, {})],
    ['one of a codec that converts', made({ marble: Holding }, { createArgument: { color: 'red', size: '7' } })],
  ] as const;

  it('has these properties', () => {
    const event = ['contractId', 'location', 'reassignmentCounter', 'offset', 'createdAt', 'templateId', 'packageName'];
    const facts = [...event, 'signatories', 'observers', 'createdEvent'];
    const keys = kinds.map(([, contract]) => Object.keys(contract ?? {}));
    expect(keys[0]).toEqual(['_tag', 'type', 'payload', ...facts]);
    expect(keys[1]).toEqual(['_tag', 'expectedType', 'problems', 'argument', ...facts]);
    expect(keys[2]).toEqual(['_tag', 'expectedType', 'problems', 'viewStatus', ...facts]);
  });

  it.each(kinds)('is all of %s when it is spread, cloned, assigned or enumerated', (_, contract) => {
    if (contract === undefined) throw new Error('no contract');
    expect(Object.getPrototypeOf(contract)).toBe(Object.prototype);
    const row = { ...contract, selected: true };
    expect(row).toStrictEqual(Object.assign({}, contract, { selected: true }));
    expect([row.contractId, row.payload, row._tag]).toEqual([contract.contractId, contract.payload, contract._tag]);
    expect(structuredClone(contract)).toEqual(contract);
    expect(Object.fromEntries(Object.entries(contract))).toEqual(contract);
  });

  it.each(kinds.slice(0, 4))('is all of %s as JSON', (_, contract) => {
    expect(JSON.parse(JSON.stringify(contract))).toEqual(contract);
  });

  it('shows its payload to inspect', () => {
    expect(inspect(kinds[0][1])).toMatch(
      /payload: \{ color: 'black', size: 7 \}[^]*location: \{ synchronizerId: 'sync-a/,
    );
  });
});

function made(
  types: ContractTypes | undefined,
  activation: Partial<Activation>,
  onUndecoded?: (contract: UndecodedContract) => unknown,
): AnyContract | undefined {
  const entry = decodeEntry(active({ contractId: 'cid', offset: 7, createArgument, ...activation }, sync));
  if (entry._tag !== 'ActiveContract') throw new Error('an active contract is one');
  return makeContract(types, onUndecoded)(entry.createdEvent, { synchronizerId: sync }, 2);
}
