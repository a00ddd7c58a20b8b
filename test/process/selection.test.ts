import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BehaviorSubject, type Observable, of } from 'rxjs';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { Cursor } from '../../src/process/CheckpointStore.js';
import { contractsFeed, type ContractsFeedOptions } from '../../src/process/contractsFeed.js';
import type { ContractsWork } from '../../src/process/ContractsWork.js';
import type { ContractsPosition } from '../../src/process/ContractsPosition.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { processFeed } from '../../src/process/processFeed.js';
import { updatesFeed } from '../../src/process/updatesFeed.js';
import type { UpdatesFeedOptions } from '../../src/process/updatesReader.js';
import { effort } from '../helpers/effort.js';
import { observe, type Observed } from '../helpers/observe.js';
import { alice, bob, carol, PartyWorld } from '../helpers/PartyWorld.js';
import { later, runVirtually } from '../helpers/virtualTime.js';

/** A handler that keeps the IDs of contracts, and says what it was given. */
class Table {
  readonly rows = new Set<string>();
  readonly told: string[] = [];

  readonly handle = (work: ContractsWork): void => {
    const isReset = work._tag === 'ResetBatch';
    if (isReset && work.isFirst) this.rows.clear();
    const added = isReset ? work.contracts : work.added;
    const removed = isReset ? [] : work.removed;
    for (const { contractId } of added) {
      if (this.rows.has(contractId)) throw new Error(`${contractId} comes twice`);
      this.rows.add(contractId);
    }
    for (const { contractId } of removed) if (!this.rows.delete(contractId)) throw new Error(`no ${contractId}`);
    const { reason = 'update' } = work;
    const parts = [
      ...added.map(({ contractId }) => `+${contractId}`).sort(),
      ...removed.map(({ contractId }) => `-${contractId}`).sort(),
    ];
    this.told.push(`${isReset ? 'all ' : ''}${reason}@${work.offset} ${parts.join(' ')}`);
  };
}

/** A processor that is started again and again, on one ledger and with one store. */
function service(ledger: PartyWorld) {
  const store = memoryStore();
  const table = new Table();
  return {
    table,
    cursor: () => (store.load('table') as (ContractsPosition & Pick<Cursor, 'selection'>)[])[0],
    run: (
      parties: readonly string[] | Observable<readonly string[]>,
      act: () => void = () => undefined,
      options: ContractsFeedOptions & { readonly onGap?: 'fail' } = {},
    ): Observed<unknown> => {
      let seen: Observed<unknown> | undefined;
      runVirtually(() => {
        const { onGap, ...rest } = options;
        const feed = contractsFeed(ledger.client, { parties, onGap }, rest);
        const run = (seen = observe(
          processFeed(feed, table.handle, { name: 'table', store, commitEvery: { updates: 1 } }),
        ));
        later(5_000, act);
        later(20_000, () => {
          run.subscription.unsubscribe();
        });
      });
      if (seen === undefined) throw new Error('nothing was run');
      return seen;
    },
  };
}

describe('a processor of contracts', () => {
  it('takes over other parties while it runs, and knows them after a restart', () => {
    const ledger = new PartyWorld('a1', 'b2', 'ab3');
    const { table, run, cursor } = service(ledger);
    const parties$ = new BehaviorSubject([alice]);
    const first = run(parties$, () => {
      parties$.next([alice, bob]);
    });
    expect(first.error).toBeUndefined();
    expect(table.told).toEqual(['all start@3 +a1 +ab3', 'selectionChanged@3 +b2']);
    const selection = cursor()?.selection;
    ledger.create('b4');
    expect(run([bob, alice]).error).toBeUndefined();
    expect(table.told.slice(2)).toEqual(['update@4 +b4']);
    expect(cursor()).toMatchObject({ offset: 4, selection });
  });

  it('knows since when its parties are selected, also if no contract is different, and after a restart', () => {
    const ledger = new PartyWorld('a1');
    const { run, cursor } = service(ledger);
    const parties$ = new BehaviorSubject([alice, bob]);
    run(parties$);
    expect(cursor()?.selectedSince).toBeUndefined();
    ledger.create('a2');
    run(parties$, () => {
      parties$.next([alice]);
      later(3_000, () => {
        ledger.create('a3');
      });
    });
    expect(cursor()).toMatchObject({ offset: 3, selectedSince: 2 });
    run([bob, alice]);
    expect(cursor()).toMatchObject({ offset: 3, selectedSince: 3 });
    ledger.create('b4');
    run([alice, bob], undefined, { batchSize: 1 });
    expect(cursor()).toMatchObject({ offset: 4, selectedSince: 3 });
  });

  it.each([
    ['more', [alice, bob, carol], '+a1 +ab3 +b2 +c4'],
    ['fewer', [bob], '+ab3 +b2'],
    ['others', [carol], '+c4'],
  ])('with a cursor of other parties takes over %s of them at its offset', (_, parties, contracts) => {
    const ledger = new PartyWorld('a1', 'b2', 'ab3', 'c4');
    const { table, run, cursor } = service(ledger);
    run([alice, bob]);
    const selection = cursor()?.selection;
    ledger.create('abc5');
    expect(run(parties).error).toBeUndefined();
    expect(table.told).toEqual(['all start@4 +a1 +ab3 +b2', `all selectionChanged@4 ${contracts}`, 'update@5 +abc5']);
    expect(cursor()?.selection).not.toBe(selection);
    run(of(parties));
    expect(table.told).toHaveLength(3);
  });

  it.each([
    ['nothing came since', []],
    ['only what they do not see came since', ['a3', 'a4']],
    ['something that they see came since', ['a3', 'b4']],
  ])('takes over parties who do not see its last update, if %s', (_, since) => {
    const ledger = new PartyWorld('b1', 'a2');
    const { table, run } = service(ledger);
    run([alice]);
    ledger.create(...since);
    expect(run([bob]).error).toBeUndefined();
    expect(table.told.slice(1)).toEqual([
      'all selectionChanged@2 +b1',
      ...(since.includes('b4') ? ['update@4 +b4'] : []),
    ]);
  });

  it('has what its parties see after each start, whoever they were before and whatever came since', () => {
    const round = fc.record({
      parties: fc.subarray([alice, bob, carol], { minLength: 1 }),
      created: fc.array(fc.constantFrom('a', 'b', 'c', 'ab', 'bc', 'abc'), { maxLength: 3 }),
      archived: fc.array(fc.nat(9), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(round, { minLength: 2, maxLength: 5 }), (rounds) => {
        const ledger = new PartyWorld('a1', 'b2', 'c3');
        const { table, run } = service(ledger);
        const active = ['a1', 'b2', 'c3'];
        let count = 3;
        for (const { parties, created, archived } of rounds) {
          const added = created.map((names) => `${names}${(count += 1)}`);
          ledger.create(...added);
          active.push(...added);
          for (const index of archived) {
            const [gone] = active.splice(index, 1);
            if (gone === undefined) continue;
            ledger.archive(gone);
            count += 1;
          }
          expect(run(parties).error).toBeUndefined();
          expect([...table.rows].sort()).toEqual(Object.keys(ledger.seenBy(parties)).sort());
        }
        expect(table.told.slice(1).filter((told) => /^all (?!selectionChanged)/.test(told))).toEqual([]);
      }),
      { numRuns: effort(60, 1_000) },
    );
  });

  it('takes over nobody, and the first party after that', () => {
    const ledger = new PartyWorld('a1', 'b2');
    const { table, run } = service(ledger);
    run([alice]);
    ledger.create('b3');
    expect(run(of([])).error).toBeUndefined();
    expect(run([bob]).error).toBeUndefined();
    expect(table.told.slice(1)).toEqual(['all selectionChanged@2 ', 'all selectionChanged@2 +b2', 'update@3 +b3']);
  });

  it('with a cursor of other parties whose offset is pruned gets all contracts from the present', () => {
    const ledger = new PartyWorld('a1', 'b2');
    const { table, run } = service(ledger);
    run([alice]);
    ledger.create('b3', 'a4');
    ledger.world.participant.ledger.pruned = 3;
    expect(run([bob], undefined, { onGap: 'fail' }).error).toMatchObject({ _tag: 'PrunedError' });
    expect(run([bob]).error).toBeUndefined();
    expect(table.told.slice(1)).toEqual(['all pruned@4 +b2 +b3']);
  });

  it('refuses a cursor of other parties with onSelectionChange: fail', () => {
    const ledger = new PartyWorld('a1', 'b2');
    const { table, run } = service(ledger);
    run([alice]);
    expect(run([bob], undefined, { onSelectionChange: 'fail' }).error).toMatchObject({
      _tag: 'CursorError',
      reason: 'selection',
    });
    expect(table.told).toHaveLength(1);
    const feedOf = (parties: readonly string[] | Observable<readonly string[]>) =>
      contractsFeed(ledger.client, { parties }, { onSelectionChange: 'fail' });
    expect(() => feedOf(of([alice]))).toThrow(TypeError);
    expect(() => contractsFeed(ledger.client, { parties: [alice] }, { onSelectionChange: 'x' as 'fail' })).toThrow(
      TypeError,
    );
  });

  it('takes over nothing of a participant that was restored, until it has found its place with the parties of before', () => {
    const ledger = new PartyWorld('a1', 'b2', 'ab3');
    const { table, run } = service(ledger);
    run([alice]);
    ledger.move(1, 5);
    ledger.create('a9');
    expect(run([alice, bob]).error).toMatchObject({
      ...{ _tag: 'CursorError', reason: 'selection', processor: 'table' },
      message: expect.stringContaining('Next: start it with the parties and types of before'),
    });
    expect(table.told).toEqual(['all start@3 +a1 +ab3']);
    expect(run([alice]).error).toBeUndefined();
    expect(run([alice, bob]).error).toBeUndefined();
    expect([...table.rows].sort()).toEqual(['a1', 'a9', 'ab3', 'b2']);
  });

  it.each([
    ['see its last update', [alice, bob]],
    ['do not see it', [bob]],
  ])('takes over nothing at another participant with onOtherNode: relocate, for parties who %s', (_, parties) => {
    const ledger = new PartyWorld('b1', 'a2');
    const { table, run } = service(ledger);
    run([alice]);
    ledger.world.participant.reconfigure({ participantId: 'other::1220ab' });
    expect(run(parties, undefined, { onOtherNode: 'relocate' }).error).toMatchObject({
      ...{ _tag: 'CursorError', reason: 'selection' },
    });
    expect(table.told).toEqual(['all start@2 +a2']);
  });

  it('does not take over the contracts of another participant', () => {
    const ledger = new PartyWorld('a1', 'b2');
    const { run } = service(ledger);
    run([alice]);
    ledger.world.participant.reconfigure({ participantId: 'other::1220ab' });
    expect(run([bob]).error).toMatchObject({ _tag: 'CursorError', reason: 'participant' });
  });
});

describe('a processor of updates', () => {
  const play = (
    ledger: PartyWorld,
    party: string,
    store: ReturnType<typeof memoryStore>,
    options?: UpdatesFeedOptions,
  ) => {
    const offsets: number[] = [];
    const reported: Diagnostic[] = [];
    let seen: Observed<unknown> | undefined;
    runVirtually(() => {
      ledger.client.diagnostics$.subscribe((diagnostic) => reported.push(diagnostic));
      const request = { beginExclusive: 0, updateFormat: acsDelta({ parties: [party], topology: false }) };
      const feed = updatesFeed(ledger.client, request, options);
      const run = (seen = observe(
        processFeed(feed, ({ offset }) => void offsets.push(offset), {
          name: 'log',
          store,
          commitEvery: { updates: 1 },
        }),
      ));
      later(20_000, () => {
        run.subscription.unsubscribe();
      });
    });
    return { offsets, error: seen?.error, reported: reported.filter(({ _tag }) => _tag === 'SelectionChanged') };
  };

  it('goes on after a cursor of other parties with onSelectionChange: continue, and reports it once', () => {
    const ledger = new PartyWorld('a1', 'b2', 'a3');
    const store = memoryStore();
    expect(play(ledger, alice, store).offsets).toEqual([1, 3]);
    ledger.create('b4', 'a5');
    expect(play(ledger, bob, store)).toMatchObject({
      offsets: [],
      error: { _tag: 'CursorError', reason: 'selection' },
    });
    const continued = play(ledger, bob, store, { onSelectionChange: 'continue' });
    expect(continued).toMatchObject({ offsets: [4], error: undefined, reported: [{ offset: 3 }] });
    ledger.create('b6');
    expect(play(ledger, bob, store)).toMatchObject({ offsets: [6], error: undefined, reported: [] });
  });

  it('continues with other parties also if the cursor was moved back, although they do not see its last update', () => {
    const ledger = new PartyWorld('a1', 'b2', 'b3', 'a4');
    const store = memoryStore();
    expect(play(ledger, alice, store).offsets).toEqual([1, 4]);
    // as canton-rx processors rewind does
    const [cursor] = store.load('log') as [Cursor];
    const { version, selection, ...rewoundFrom } = cursor;
    const rewound = { version, selection, offset: 2, recordTimes: {}, rewoundFrom };
    void store.save('log', rewound);
    ledger.create('b5');
    const continued = play(ledger, bob, store, { onSelectionChange: 'continue' });
    expect(continued).toMatchObject({ offsets: [3, 5], error: undefined });
  });

  it.each([
    ['nothing came since', []],
    ['only what they do not see came since', ['a3']],
    ['something that they see came since', ['a3', 'b4']],
  ])('continues with parties who do not see its last update, if %s', (_, since) => {
    const ledger = new PartyWorld('b1', 'a2');
    const store = memoryStore();
    play(ledger, alice, store);
    ledger.create(...since);
    const continued = play(ledger, bob, store, { onSelectionChange: 'continue' });
    expect(continued).toMatchObject({ offsets: since.includes('b4') ? [4] : [], error: undefined });
    ledger.create('b5');
    const again = play(ledger, bob, store, { onSelectionChange: 'continue' });
    expect(again).toMatchObject({ offsets: [ledger.end], error: undefined });
  });

  it('refuses other parties of a cursor that was moved back on another participant', () => {
    const ledger = new PartyWorld('a1', 'b2', 'b3', 'a4');
    const store = memoryStore();
    play(ledger, alice, store);
    const [cursor] = store.load('log') as [Cursor];
    const { version, selection, ...rewoundFrom } = cursor;
    const rewound = { ...rewoundFrom, version, selection, offset: 2, recordTimes: {}, rewoundFrom };
    void store.save('log', rewound);
    ledger.world.participant.reconfigure({ participantId: 'other::1220ab' });
    expect(play(ledger, bob, store, { onSelectionChange: 'continue' })).toMatchObject({
      offsets: [],
      error: { _tag: 'CursorError', reason: 'participant' },
    });
  });

  it('has no other reaction', () => {
    const { client } = new PartyWorld();
    const request = { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) };
    expect(() => updatesFeed(client, request, { onSelectionChange: 'reconcile' as 'fail' })).toThrow(TypeError);
  });
});
