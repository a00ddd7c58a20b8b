import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import * as t from 'io-ts';
import { EMPTY, type Observable, takeUntil, timer } from 'rxjs';
import { contractType, interfaceType } from '../../src/codecs/ContractType.js';
import type { Contract, UndecodedContract } from '../../src/contracts/Contract.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import { contractChanges } from '../../src/contracts/contractChanges.js';
import type { ContractQuery } from '../../src/contracts/ContractQuery.js';
import { contractsWorld, releases } from '../helpers/virtualContracts.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime, marbles as inVirtualTime } from '../helpers/time.js';
import {
  archiveAway,
  assign,
  away,
  brief,
  create,
  follow,
  home,
  marbles,
  nothing,
  reported,
  toBrief,
  unassign,
} from './joinSupport.js';

/** Marbles as a program knows them that is older than their package. */
const Numbered = contractType('#marbles:Marbles:Marble', t.type({ number: t.number }));

describe('contractChanges', () => {
  itInVirtualTime('sends nothing before it is subscribed to, and each subscription reads for itself', ({ flush }) => {
    const { participant, service, client } = contractsWorld();
    participant.append(create(2, 'a'));
    const changes$ = contractChanges(client, marbles).pipe(toBrief(), takeUntil(timer(500)));
    expect(service.requests).toEqual([]);
    const seen = [observe(changes$), observe(changes$)];
    flush();
    expect(seen.map(({ values }) => values)).toEqual(Array(2).fill(['Reset 2 start a', 'CaughtUp 2']));
  });

  it('throws at once for a mistake in the program', () => {
    const { client } = contractsWorld();
    expect(() => contractChanges(client, { parties: [] })).toThrow(TypeError);
    const other = { ...client, updates: () => EMPTY };
    expect(() => contractChanges(other, marbles)).toThrow('ledger.updates must be');
    expect(() => contractChanges(client, marbles, { maxPageSize: 0 })).toThrow(TypeError);
    expect(() => contractChanges(client, marbles, { maxSnapshotPageSize: 1.5 })).toThrow(TypeError);
  });

  it('fails for a party or template that cannot exist, without a request', () => {
    const { client, service } = contractsWorld();
    const Wrong = { templateId: 'no template', decoder: Numbered.decoder, encode: String };
    const errorOf = (query: ContractQuery): unknown => observe(contractChanges(client, query)).error;
    expect(errorOf({ parties: ['Alice & Bob'] })).toMatchObject({ _tag: 'InvalidRequestError' });
    expect(errorOf({ types: { wrong: Wrong }, parties: 'any' })).toBeInstanceOf(TypeError);
    expect(service.requests).toEqual([]);
  });

  it('takes a type that is no more than an id and a decoder for a template', () => {
    const { templateId, decoder } = Numbered;
    const query = { types: { numbered: { templateId, decoder } }, parties: ['alice::1220ab'] };
    const { seen, service } = follow({ query, forMs: 500 });
    expect(seen.values).toEqual(['Reset 2 start a', 'CaughtUp 2']);
    const filters = service.requests.map(({ body }) => JSON.stringify(body)).filter((body) => body.includes('Filter'));
    expect(filters.length).toBeGreaterThan(0);
    expect(filters.every((body) => body.includes('TemplateFilter') && !body.includes('InterfaceFilter'))).toBe(true);
  });

  describe.each([
    ['pages', {}],
    ['lists', { pages: 'gone' }],
    ['a WebSocket', { pages: 'gone', lists: 'gone' }],
  ] as const)('joins a snapshot of 3.7 with the reassignments that are incomplete in it, from %s', (_, served) => {
    it.each([
      [
        'unassigned, and assigned later',
        [create(1, 'a'), unassign(2, 'a')],
        assign(3, 'a'),
        ['Reset 2 start a', 'ContractsChanged 3 ~a'],
        [{ inFlight: { source: home, target: away } }, { synchronizerId: away }],
      ],
      [
        'assigned, and unassigned later',
        [create(1, 'a'), assign(2, 'a')],
        unassign(3, 'a'),
        ['Reset 2 start a'],
        [{ synchronizerId: away }],
      ],
      [
        'assigned and archived, and unassigned later',
        [create(1, 'a'), assign(2, 'a'), archiveAway(3, 'a')],
        unassign(4, 'a'),
        ['Reset 3 start'],
        [],
      ],
    ] as const)('%s', (_name, before, after, lines, locations) => {
      inVirtualTime(({ flush }) => {
        const { participant, client } = contractsWorld({ ...releases['3.7'], ...served });
        participant.append(...before);
        const { transport } = participant;
        const seen = observe(contractChanges(client, marbles, { transport }).pipe(takeUntil(timer(60_000))));
        timer(1_000).subscribe(() => {
          participant.append(after);
        });
        flush();
        const changes = seen.values.filter(({ _tag }) => _tag === 'Reset' || _tag === 'ContractsChanged');
        expect(changes.map(brief)).toEqual(lines);
        const contracts = changes.flatMap((change) => {
          if (change._tag === 'Reset') return change.contracts;
          return change._tag === 'ContractsChanged' ? change.moved.map(({ contract }) => contract) : [];
        });
        expect(contracts.map(({ location }) => location)).toEqual(locations);
      });
    });
  });

  it('says when all changes up to the ledger end are emitted, and when no longer, after the changes that say so', () => {
    const { seen, diagnostics } = follow({
      options: { maxPageSize: 2 },
      during: {
        1_000: ({ participant }) => {
          participant.ledger.disconnect();
          participant.append(...[3, 4, 5, 6, 7, 8, 9].map((offset) => create(offset, `c${offset}`)));
        },
      },
    });
    const marks = seen.values.filter((line) => !line.startsWith('ContractsChanged'));
    expect(marks).toEqual(['Reset 2 start a', 'CaughtUp 2', expect.stringMatching('FellBehind'), 'CaughtUp 9']);
    // each mark comes after the changes up to its offset
    const offsets = seen.values.map((line) => Number(line.split(' ')[1]));
    expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
    expect(reported(diagnostics, 'CaughtUp').map(({ cursor }) => cursor)).toEqual([2, 9]);
    expect(diagnostics.every(({ feed }) => feed === 1)).toBe(true);
  });

  it('does not repeat a CaughtUp for polls that bring nothing', () => {
    const { seen } = follow({ given: [nothing(1)], forMs: 120_000 });
    expect(seen.values).toEqual(['Reset 1 start', 'CaughtUp 1']);
  });

  it('of an empty ledger begins with no contracts, and then has the first', () => {
    const { seen } = follow({
      given: [],
      during: {
        1_000: ({ participant }) => {
          participant.append(create(1, 'a'));
        },
      },
    });
    expect(seen.values).toEqual(['Reset 0 start', 'CaughtUp 0', 'ContractsChanged 1 +a']);
  });

  it('keeps a contract that does not decode, and reports it once', () => {
    const { changes, diagnostics } = follow({
      query: { types: { numbered: Numbered }, parties: ['alice::1220ab'] },
      forMs: 1_000,
    });
    const [change] = changes.values;
    const [contract] = change?._tag === 'Reset' ? change.contracts : [];
    expect(contract).toMatchObject({ _tag: 'UndecodedContract', contractId: 'a', expectedType: 'numbered' });
    expect(contract?.type).toBeUndefined();
    const reports = reported(diagnostics, 'ContractUndecoded');
    expect(reports).toMatchObject([{ contractId: 'a', expectedType: 'numbered', feed: 1 }]);
    expect(JSON.stringify(reports)).not.toMatch(/alice|"(red|green|blue|black)"/);
  });

  it.each([
    ['of the snapshot', 2],
    ['of an update', 3],
  ])('fails for a contract %s that does not decode, if the caller says so', (_, offset) => {
    const { seen } = follow({
      given: offset === 2 ? [create(2, 'a')] : [],
      query: { types: { numbered: Numbered }, parties: 'any', onUndecodable: 'fail' },
      during: {
        1_000: ({ participant }) => {
          if (offset === 3) participant.append(create(3, 'a'));
        },
      },
    });
    const path = expect.stringMatching(/:Marbles:Marble$/);
    expect(seen.error).toMatchObject({
      _tag: 'DecodeError',
      offset,
      path,
      problems: [{ path: 'createArgument.number' }],
    });
    expect(seen.values).toEqual(offset === 2 ? [] : ['Reset 0 start', 'CaughtUp 0']);
  });

  it('has contracts of the types of the query, by name', () => {
    const { client } = contractsWorld();
    const Holding = interfaceType('#holdings:Holdings:Holding', t.type({ amount: t.string }));
    const typed$ = contractChanges(client, { types: { marble: Numbered, holding: Holding }, parties: 'any' });
    expectTypeOf(typed$).toEqualTypeOf<
      Observable<
        ContractChange<
          | Contract<'marble', { number: number }>
          | UndecodedContract<'marble'>
          | Contract<'holding', { amount: string }>
          | UndecodedContract<'holding'>
        >
      >
    >();
    const untyped$ = contractChanges(client, { parties: 'any' });
    expectTypeOf(untyped$).toEqualTypeOf<Observable<ContractChange<Contract | UndecodedContract>>>();
  });
});
