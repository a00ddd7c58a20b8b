import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import * as t from 'io-ts';
import { type Observable, takeUntil, timer } from 'rxjs';
import { contractType, interfaceType } from '../../src/codecs/ContractType.js';
import type { Contract, UndecodedContract } from '../../src/contracts/Contract.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import { contractChanges } from '../../src/contracts/contractChanges.js';
import { contractsWorld } from '../helpers/virtualContracts.js';
import { observe } from '../helpers/observe.js';
import { marbles as inVirtualTime } from '../helpers/time.js';
import { create, marbles, nothing, record, reported, toBrief } from './joinSupport.js';

/** Marbles as a program knows them that is older than their package. */
const Numbered = contractType('#marbles:Marbles:Marble', t.type({ number: t.number }));

describe('contractChanges', () => {
  it('sends nothing before it is subscribed to, and each subscription reads for itself', () => {
    inVirtualTime(({ flush }) => {
      const { participant, service, client } = contractsWorld();
      participant.append(create(2, 'a'));
      const changes$ = contractChanges(client, marbles).pipe(toBrief(), takeUntil(timer(500)));
      expect(service.requests).toEqual([]);
      const seen = [observe(changes$), observe(changes$)];
      flush();
      expect(seen.map(({ values }) => values)).toEqual(Array(2).fill(['Reset 2 start a', 'CaughtUp 2']));
    });
  });

  it('throws at once for a mistake in the program', () => {
    const { client } = contractsWorld();
    expect(() => contractChanges(client, { parties: [] })).toThrow(TypeError);
    expect(() => contractChanges({ ...client }, marbles)).toThrow('not a copy');
    expect(() => contractChanges(client, marbles, { maxPageSize: 0 })).toThrow(TypeError);
    expect(() => contractChanges(client, marbles, { maxSnapshotPageSize: 1.5 })).toThrow(TypeError);
  });

  it('fails with an InvalidRequestError for a party or template that cannot exist, without a request', () => {
    const { client, service } = contractsWorld();
    const Wrong = { templateId: 'no template', decoder: Numbered.decoder, encode: String };
    for (const query of [{ parties: ['Alice & Bob'] }, { types: { wrong: Wrong }, parties: 'any' as const }])
      expect(observe(contractChanges(client, query)).error).toMatchObject({ _tag: 'InvalidRequestError' });
    expect(service.requests).toEqual([]);
  });

  it('says when all changes up to the ledger end are emitted, and when no longer, after the changes that say so', () => {
    inVirtualTime(({ flush }) => {
      const { participant, client } = contractsWorld({ latencyMs: 5 });
      participant.append(create(2, 'a'));
      const diagnostics = record(client.diagnostics$);
      const changes$ = contractChanges(client, marbles, { maxPageSize: 2 }).pipe(takeUntil(timer(30_000)));
      const seen = observe(changes$.pipe(toBrief()));
      timer(1_000).subscribe(() => {
        participant.ledger.disconnect();
        participant.append(...[3, 4, 5, 6, 7, 8, 9].map((offset) => create(offset, `c${offset}`)));
      });
      flush();
      const marks = seen.values.filter((line) => !line.startsWith('ContractsChanged'));
      expect(marks).toEqual(['Reset 2 start a', 'CaughtUp 2', expect.stringMatching('FellBehind'), 'CaughtUp 9']);
      // each mark comes after the changes up to its offset
      const offsets = seen.values.map((line) => Number(line.split(' ')[1]));
      expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
      expect(reported(diagnostics, 'CaughtUp').map(({ cursor }) => cursor)).toEqual([2, 9]);
      expect(diagnostics.every(({ feed }) => feed === 1)).toBe(true);
    });
  });

  it('does not repeat a CaughtUp for polls that bring nothing', () => {
    inVirtualTime(({ flush }) => {
      const { participant, client } = contractsWorld({ latencyMs: 5 });
      participant.append(nothing(1));
      const seen = observe(contractChanges(client, marbles).pipe(toBrief(), takeUntil(timer(120_000))));
      flush();
      expect(seen.values).toEqual(['Reset 1 start', 'CaughtUp 1']);
    });
  });

  it('of an empty ledger begins with no contracts, and then has the first', () => {
    inVirtualTime(({ flush }) => {
      const { participant, client } = contractsWorld({ latencyMs: 5 });
      const seen = observe(contractChanges(client, marbles).pipe(toBrief(), takeUntil(timer(10_000))));
      timer(1_000).subscribe(() => {
        participant.append(create(1, 'a'));
      });
      flush();
      expect(seen.values).toEqual(['Reset 0 start', 'CaughtUp 0', 'ContractsChanged 1 +a']);
    });
  });

  it('keeps a contract that does not decode, and reports it once when that is found', () => {
    inVirtualTime(({ flush }) => {
      const { participant, client } = contractsWorld({ latencyMs: 5 });
      participant.append(create(2, 'a'));
      const diagnostics = record(client.diagnostics$);
      const query = { types: { numbered: Numbered }, parties: ['alice::1220ab'] };
      const seen = observe(contractChanges(client, query).pipe(takeUntil(timer(1_000))));
      flush();
      const [change] = seen.values;
      const [contract] = change?._tag === 'Reset' ? change.contracts : [];
      expect(reported(diagnostics, 'ContractUndecoded')).toEqual([]);
      expect(contract).toMatchObject({ _tag: 'UndecodedContract', contractId: 'a', expectedType: 'numbered' });
      expect(contract?.type).toBeUndefined();
      const reports = reported(diagnostics, 'ContractUndecoded');
      expect(reports).toMatchObject([{ contractId: 'a', expectedType: 'numbered', feed: 1 }]);
      expect(JSON.stringify(reports)).not.toMatch(/alice|"(red|green|blue|black)"/);
    });
  });

  it.each([
    ['of the snapshot', 2],
    ['of an update', 3],
  ])('fails for a contract %s that does not decode, if the caller says so', (_, offset) => {
    inVirtualTime(({ flush }) => {
      const { participant, client } = contractsWorld({ latencyMs: 5 });
      if (offset === 2) participant.append(create(2, 'a'));
      const query = { types: { numbered: Numbered }, parties: 'any', onUndecodable: 'fail' } as const;
      const seen = observe(contractChanges(client, query).pipe(toBrief(), takeUntil(timer(10_000))));
      timer(1_000).subscribe(() => {
        if (offset === 3) participant.append(create(3, 'a'));
      });
      flush();
      expect(seen.error).toMatchObject({ _tag: 'DecodeError', offset });
      expect(seen.values).toEqual(offset === 2 ? [] : ['Reset 0 start', 'CaughtUp 0']);
    });
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
