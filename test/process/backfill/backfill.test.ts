import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { of } from 'rxjs';
import { acsDelta } from '../../../src/codecs/UpdateFormat.js';
import { processFeed } from '../../../src/process/processFeed.js';
import { updatesFeed } from '../../../src/process/updatesFeed.js';
import type { UpdatesFeedOptions } from '../../../src/process/updatesReader.js';
import { chooseSeed, effort } from '../../helpers/effort.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { alice, bob, carol, PartyWorld } from '../../helpers/PartyWorld.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';
import { errorBody, errorReply } from '../../helpers/wire.js';
import { type Fate, MemoryTransactions } from '../transactionalStore.js';

type Parties = readonly string[];

/** A processor of updates that is started again and again. Of the past, it has the offsets as negative numbers. */
function log(ledger: Pick<PartyWorld, 'client' | 'world'>, fates: () => Fate = () => 'committed') {
  const store = new MemoryTransactions(() => of(fates()));
  const { effects } = store.committed;
  return {
    effects,
    transactions: () => store.transactionCount,
    /** Replaces the stored cursor. */
    save: (json: string): void => {
      store.committed.json = json;
    },
    cursor: () => store.cursor as ReturnType<() => typeof store.cursor> & { readonly seen?: readonly object[] },
    run: (
      parties: Parties,
      forMs = 20_000,
      options: UpdatesFeedOptions = {},
      beginExclusive = 0,
    ): Observed<unknown> => {
      let seen: Observed<unknown> | undefined;
      runVirtually(() => {
        const request = { beginExclusive, updateFormat: acsDelta({ parties, topology: false }) };
        const feed = updatesFeed(ledger.client, request, {
          onSelectionChange: 'continue',
          backfill: true,
          maxPageSize: 2,
          ...options,
        });
        const run = (seen = observe(
          processFeed(
            feed,
            ({ offset, isBackfill = false }, tx) => void tx.effects.push(isBackfill ? -offset : offset),
            { name: 'log', store, commitEvery: { updates: 1 }, storeRetry: { baseDelayMs: 1, maxDelayMs: 1 } },
          ),
        ));
        later(forMs, () => {
          run.subscription.unsubscribe();
        });
      });
      if (seen === undefined) throw new Error('nothing was run');
      expect(ledger.world.service.open).toBe(0);
      return seen;
    },
  };
}

describe('a processor of updates with backfill (G85)', () => {
  it('first gets the past of an added party, flagged, without what it has seen by another one', () => {
    const ledger = new PartyWorld('a1', 'b2', 'ab3', 'c4', 'b5', 'a6');
    const { run, effects, cursor } = log(ledger);
    run([alice]);
    expect(effects).toEqual([1, 3, 6]);
    ledger.create('b7', 'a8');
    expect(run([alice, bob]).error).toBeUndefined();
    expect(effects.slice(3)).toEqual([-2, -5, 7, 8]);
    expect(cursor()).toMatchObject({ offset: 8 });
    expect(cursor().seen).toHaveLength(1);
    ledger.create('b9');
    run([bob, alice]);
    expect(effects.slice(7)).toEqual([9]);
  });

  it('continues in the middle of the past after a crash, once or with others again', () => {
    const ledger = new PartyWorld('a1', ...Array.from({ length: 12 }, (_, n) => `b${n}`), 'bc13', 'c14');
    const { run, effects } = log(ledger);
    run([alice]);
    let forMs = 40;
    while (effects.length < 6) run([alice, bob], (forMs += 10));
    expect(effects.length).toBeLessThan(13);
    run([alice, carol]);
    run([alice, bob]);
    expect(effects.map(Math.abs).sort((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, n) => n + 1));
  });

  it('does not get again what it had of a party that goes and comes back, but what it missed in between', () => {
    const ledger = new PartyWorld('a1', 'b2');
    const { run, effects, cursor } = log(ledger);
    run([alice, bob]);
    ledger.create('b3', 'a4');
    run([alice]);
    ledger.create('b5');
    run([alice, bob]);
    expect(effects).toEqual([1, 2, 4, -3, 5]);
    expect(cursor().seen).toHaveLength(1);
  });

  it('gets what the former request did not have because it began later', () => {
    const ledger = new PartyWorld('a1', 'ab2', 'b3', 'a4', 'ab5', 'b6');
    const { run, effects } = log(ledger);
    run([alice], 20_000, {}, 1);
    run([alice, bob]);
    expect(effects).toEqual([2, 4, 5, -1, -3, 6]);
  });

  it('commits nothing at a start with the same request', () => {
    const ledger = new PartyWorld('a1', 'b2');
    const { run, transactions } = log(ledger);
    run([alice]);
    run([alice, bob]);
    const before = transactions();
    run([bob, alice]);
    expect(transactions()).toBe(before);
  });

  it('ends with a PrunedError if the past is pruned, or begins where onGap says', () => {
    const ledger = new PartyWorld('a1', 'b2', 'b3', 'b4', 'a5');
    const { run, effects } = log(ledger);
    run([alice]);
    ledger.world.participant.ledger.pruned = 2;
    expect(run([alice, bob]).error).toMatchObject({ _tag: 'PrunedError' });
    expect(run([alice, bob], 20_000, { onGap: () => of(2) }).error).toBeUndefined();
    expect(effects).toEqual([1, 5, -3, -4]);
  });

  it('refuses a cursor whose selection is not known, and one whose backfill is not complete', () => {
    const ledger = new PartyWorld('a1', 'b2', 'b3', 'b4', 'b5', 'b6', 'a7');
    const former = log(ledger);
    former.run([alice], 20_000, { backfill: false });
    expect(former.run([alice, bob]).error).toMatchObject({ _tag: 'CursorError', reason: 'selection' });
    // of the same selection, it is known
    expect(former.run([alice]).error).toBeUndefined();
    for (let forMs = 40; former.effects.length < 4; forMs += 10)
      expect(former.run([alice, bob], forMs).error).toBeUndefined();
    expect(former.effects.length).toBeLessThan(7);
    expect(former.run([alice, bob], 20_000, { backfill: false }).error).toMatchObject({
      _tag: 'CursorError',
      reason: 'selection',
    });
    expect(former.run([alice, bob]).error).toBeUndefined();
    expect(former.effects).toEqual([1, 7, -2, -3, -4, -5, -6]);
  });

  it('refuses a ledger that has lost what it had read, and has grown since, whatever is selected now', () => {
    let ledger = new PartyWorld('a1', 'b2', 'a3');
    const { run, effects } = log({
      get client() {
        return ledger.client;
      },
      get world() {
        return ledger.world;
      },
    });
    run([alice]);
    // the third update was another one before
    ledger = new PartyWorld('a1', 'b2', 'b3', 'a4', 'b5');
    expect(run([alice, bob]).error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(run([bob]).error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(effects).toEqual([1, 3]);
    ledger = new PartyWorld('a1', 'b2', 'a3', 'a4');
    expect(run([alice, bob]).error).toBeUndefined();
    expect(effects).toEqual([1, 3, -2, 4]);
  });

  it('continues exactly on a participant that was restored after the past of an added party was complete', () => {
    const ledger = new PartyWorld('a1', 'b2', 'a3', 'b4');
    const { run, effects } = log(ledger);
    run([alice]);
    expect(run([alice, bob]).error).toBeUndefined();
    expect(effects).toEqual([1, 3, -2, 4]);
    // what is after the first update is at other offsets now
    ledger.move(1, 5);
    ledger.create('a5', 'b6');
    expect(run([alice, bob]).error).toBeUndefined();
    expect(effects.slice(4)).toEqual([10, 11]);
  });

  it('continues exactly if a restore has changed the order of two synchronizers after the past was complete', () => {
    const ledger = new PartyWorld('a1', 'b@2', 'a3', 'b4');
    const { run, effects } = log(ledger);
    run([alice]);
    run([alice, bob], 60);
    expect(run([alice, bob]).error).toBeUndefined();
    expect(effects).toEqual([1, 3, -2, 4]);
    ledger.interleave('a1', 'a3', 'b4', 'b@2');
    ledger.create('b@5');
    expect(run([alice, bob]).error).toBeUndefined();
    expect(effects.slice(4)).toEqual([5]);
  });

  it('refuses a restored participant before the first new update of a selection of which it has read the past alone', () => {
    const ledger = new PartyWorld('a1', 'a2');
    const { run, effects } = log(ledger);
    run([bob]);
    run([alice]);
    expect(effects).toEqual([-1, -2]);
    ledger.move(1, 5);
    ledger.create('a3', 'c4');
    expect(run([carol]).error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(run([alice]).error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(effects).toHaveLength(2);
  });

  it('refuses a participant that was restored before the first update of another selection', () => {
    const ledger = new PartyWorld('a1', 'b2', 'a3');
    const { run, effects, cursor } = log(ledger);
    run([alice]);
    expect(run([bob]).error).toBeUndefined();
    expect(cursor().lastUpdate).toBeUndefined();
    ledger.move(1, 5);
    ledger.create('b4');
    expect(run([bob]).error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(run([alice, carol]).error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(effects).toEqual([1, 3, -2]);
  });

  it('continues after a cursor of a store that returns null for an absent field, and still refuses a restored participant', () => {
    const ledger = new PartyWorld('a1', 'b2', 'a3');
    const { run, effects, cursor, save } = log(ledger);
    run([alice]);
    run([bob]);
    const { seen = [], ...rest } = cursor();
    expect(seen).toHaveLength(2);
    const nulls = { until: null, lastUpdate: null, recordTimes: null, isMoved: null };
    save(JSON.stringify({ ...rest, rewoundFrom: null, seen: seen.map((each) => ({ ...nulls, ...each })) }));
    ledger.move(1, 5);
    expect(run([alice, bob]).error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    ledger.move(1, -5);
    ledger.create('a4');
    expect(run([alice, bob]).error).toBeUndefined();
    expect(effects).toEqual([1, 3, -2, 4]);
  });

  it('reads on in the past after a cursor of such a store', () => {
    const ledger = new PartyWorld('a1', 'b2', 'b3', 'b4', 'b5', 'a6');
    const { run, effects, cursor, save } = log(ledger);
    run([alice]);
    for (let forMs = 40; effects.length < 3; forMs += 10) run([alice, bob], forMs);
    const { seen = [], ...rest } = cursor();
    expect(seen.at(-1)).toHaveProperty('until');
    const nulls = { until: null, lastUpdate: null, recordTimes: null, isMoved: null };
    const own = { ...seen.at(-1), recordTimes: null };
    save(JSON.stringify({ ...rest, seen: [...seen.slice(0, -1).map((each) => ({ ...nulls, ...each })), own] }));
    expect(run([alice, bob]).error).toBeUndefined();
    expect(effects).toEqual([1, 6, -2, -3, -4, -5]);
  });

  it('needs no proof of another selection after the first update of its own', () => {
    const ledger = new PartyWorld('a1', 'b2', 'a3');
    const { run, effects, cursor } = log(ledger);
    run([alice]);
    run([bob]);
    ledger.create('b4');
    run([bob]);
    expect(cursor()).toMatchObject({ lastUpdate: { offset: 4 } });
    ledger.move(1, 5);
    ledger.create('b5');
    expect(run([bob]).error).toBeUndefined();
    expect(effects).toEqual([1, 3, -2, 4, 10]);
  });

  it('continues without a party that may no longer be read', () => {
    const ledger = new PartyWorld('a1', 'b2');
    const { run, effects } = log(ledger);
    run([alice, bob]);
    ledger.create('a3');
    ledger.fault = ({ body }) =>
      JSON.stringify(body).includes(bob) ? errorReply(403, errorBody('PERMISSION_DENIED', 7)) : undefined;
    expect(run([alice]).error).toBeUndefined();
    expect(effects).toEqual([1, 2, 3]);
  });

  it('requires that other selections are continued', () => {
    const { client } = new PartyWorld();
    const request = { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) };
    expect(() => updatesFeed(client, request, { backfill: true })).toThrow(TypeError);
  });

  const parties = fc.subarray([alice, bob, carol], { minLength: 1 });
  const step = fc.record({
    parties,
    creates: fc.array(fc.constantFrom('a', 'b', 'c', 'ab', 'bc', 'abc'), { maxLength: 5 }),
    runsForMs: fc.oneof(fc.integer({ min: 1, max: 250 }), fc.constant(10_000)),
  });

  it('has each update that its last request selects, once, whatever it was killed at and whatever it selected before', () => {
    const seed = chooseSeed();
    process.stdout.write(`backfill: seed ${seed}\n`);
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 2, maxLength: 8 }),
        fc.infiniteStream(fc.constantFrom<Fate>('committed', 'committed', 'committed', 'failed', 'lost', 'again')),
        (steps, fates) => {
          const ledger = new PartyWorld('a1', 'b2', 'ab3', 'c4');
          const names = ['a', 'b', 'ab', 'c'];
          const { run, effects } = log(ledger, () => (fates.next().value as Fate | undefined) ?? 'committed');
          const ever = new Set<string>();
          const starts: number[] = [];
          for (const { parties: selected, creates, runsForMs } of [...steps, ...steps.slice(-1)]) {
            const isLast = starts.length === steps.length;
            starts.push(effects.length);
            for (const party of selected) ever.add(party);
            expect(run(selected, isLast ? 60_000 : runsForMs).error).toBeUndefined();
            if (isLast) break;
            ledger.create(...creates.map((name) => `${name}${names.push(name)}`));
          }
          const { parties: wanted = [] } = steps.at(-1) ?? {};
          const seenBy = (list: Iterable<string>) =>
            names.flatMap((name, index) =>
              [...list].some((party) => name.includes(party.slice(0, 1))) ? [index + 1] : [],
            );
          const handled = effects.map(Math.abs);
          expect(new Set(handled).size).toBe(handled.length);
          expect(seenBy(wanted).filter((offset) => !handled.includes(offset))).toEqual([]);
          const possible = new Set(seenBy(ever));
          expect(handled.filter((offset) => !possible.has(offset))).toEqual([]);
          // in order: in each run the past, and then what is new
          starts.forEach((from, n) => {
            const ofRun = effects.slice(from, starts[n + 1]);
            const past = ofRun.filter((offset) => offset < 0);
            expect(ofRun.slice(0, past.length)).toEqual(past);
            expect(past.map(Math.abs)).toEqual(past.map(Math.abs).sort((a, b) => a - b));
          });
          const news = effects.filter((offset) => offset > 0);
          expect(news).toEqual([...news].sort((a, b) => a - b));
        },
      ),
      { seed, numRuns: effort(60, 600, 80) },
    );
  });
});
