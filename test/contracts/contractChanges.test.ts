import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import * as t from 'io-ts';
import { EMPTY, type Observable, of, takeUntil, timer } from 'rxjs';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import type { Contract, UndecodedContract } from '../../src/contracts/Contract.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import {
  activeContracts,
  type ActiveContractsRequest,
  contractChanges,
  type ContractsOptions,
  liveContracts,
} from '../../src/contracts/index.js';
import type { ContractQuery } from '../../src/contracts/ContractQuery.js';
import { logTo } from '../../src/diagnostics/logTo.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { contractsWorld } from '../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { create, follow, marbles, missed, nothing, pruned, reported, toBrief } from './joinSupport.js';

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

  it('says when all changes up to the ledger end are emitted, and when no longer, after the changes that say so', () => {
    const { seen, diagnostics } = follow({
      options: { maxPageSize: 2 },
      during: { 1_000: missed(...[3, 4, 5, 6, 7, 8, 9].map((offset) => create(offset, `c${offset}`))) },
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
    const { seen } = follow({ given: [], during: { 1_000: [create(1, 'a')] } });
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
  ])('fails for a contract %s that does not decode, if the caller says so (G32)', (_, offset) => {
    const { seen } = follow({
      given: offset === 2 ? [create(2, 'a')] : [],
      query: { types: { numbered: Numbered }, parties: 'any', onUndecodable: 'fail' },
      during: offset === 3 ? { 1_000: [create(3, 'a')] } : {},
    });
    const path = expect.stringMatching(/:Marbles:Marble$/);
    const problems = [{ path: 'createArgument.number' }];
    expect(seen.error).toMatchObject({ _tag: 'DecodeError', offset, path, problems });
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

const denied = errorReply(403, errorBody('PERMISSION_DENIED', 7));

type Use = (ledger: Ledger, options?: ContractsOptions, query?: ActiveContractsRequest) => Observable<unknown>;
const uses: readonly [string, Use][] = [
  ['activeContracts', (ledger, options, query = marbles) => activeContracts(ledger, query, options)],
  ['contractChanges', (ledger, options, query = marbles) => contractChanges(ledger, query, options)],
  ['liveContracts', (ledger, options, query = marbles) => liveContracts(ledger, query, options).all$()],
];

/** The ends that are reported, and the lines of warnings and errors. */
function endOf(ledger: Ledger, use: Use) {
  const ends: unknown[] = [];
  const warnings: string[] = [];
  const errors: string[] = [];
  const keep = (lines: string[]) => (line: string) => lines.push(line);
  ledger.diagnostics$.subscribe(logTo({ info: keep([]), warn: keep(warnings), error: keep(errors) }));
  ledger.diagnostics$.subscribe((diagnostic) => {
    if (diagnostic._tag === 'FeedEnded') ends.push({ feed: diagnostic.feed, how: diagnostic.how });
  });
  observe(use(ledger).pipe(takeUntil(timer(60_000))));
  return { ends, warnings, errors };
}

describe.each(uses)('%s', (name, use) => {
  it('throws for mistakes in the program', () => {
    const { client } = contractsWorld();
    expect(() => use({ ...client, updates: () => EMPTY })).toThrow('ledger.updates must be');
    expect(() => use(client, { maxPageSize: 0 })).toThrow(TypeError);
    expect(() => use(client, { maxSnapshotPageSize: 1.5 })).toThrow(TypeError);
    const withoutParties = () => use(client, {}, { parties: [] });
    // a snapshot is the one reader that looks at its query when it is subscribed to
    if (name === 'activeContracts') expect(observe(withoutParties()).error).toBeInstanceOf(TypeError);
    else expect(withoutParties).toThrow(TypeError);
  });

  itInVirtualTime('reports and logs its end once if the participant refuses the snapshot', ({ flush }) => {
    const ledger = createLedger({
      baseUrl: 'http://ledger.example',
      port: ({ url }) => of(url.includes('ledger-end') ? { status: 200, headers: {}, text: '{"offset":9}' } : denied),
    });
    const { ends, errors } = endOf(ledger, use);
    flush();
    expect(ends).toEqual([{ feed: 1, how: 'failed' }]);
    expect(errors).toEqual([expect.stringContaining('feed 1: ended with an error: ledger.example answered 403')]);
  });

  itInVirtualTime('reports its end once if nothing fails', ({ flush }) => {
    const { client } = contractsWorld({ latencyMs: 5 });
    const { ends, errors } = endOf(client, use);
    flush();
    expect(ends).toEqual([{ feed: 1, how: name === 'activeContracts' ? 'completed' : 'unsubscribed' }]);
    expect(errors).toEqual([]);
  });
});

describe('a gap after which a view continues', () => {
  itInVirtualTime('is logged as a gap, and not as an end', ({ flush }) => {
    const world = contractsWorld({ latencyMs: 5 });
    world.participant.append(create(2, 'a'));
    const { ends, warnings, errors } = endOf(world.client, (ledger) => liveContracts(ledger, marbles).all$());
    timer(1_000).subscribe(() => {
      pruned(5, create(6, 'b'))(world);
    });
    flush();
    expect(errors).toEqual([]);
    expect(warnings.at(-1)).toMatch(/^canton-rx: feed 1: The ledger is pruned .*, resumes after offset 6$/);
    expect(ends).toEqual([{ feed: 1, how: 'unsubscribed' }]);
  });
});
