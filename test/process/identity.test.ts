import { describe, expect, it } from '@jest/globals';
import { switchMap, takeUntil, timer } from 'rxjs';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { transactionWithId } from '../helpers/wire.js';
import { upTo } from '../helpers/world.js';
import { mockPlatform, PlainStore, processWorld } from './support.js';

mockPlatform();

const others = (...all: readonly number[]) =>
  all.map((offset) => ({ offset, element: transactionWithId(offset, `other${offset}`) }));

describe('a running processor whose ledger is replaced', () => {
  it.each([
    ['after the updates that it has handled', 20_000],
    ['while it catches up', 30],
  ])('ends with a CursorError, and handles nothing of the other ledger: %s (G46)', (_, atMs) => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld(40);
      const handled: unknown[] = [];
      const store = new PlainStore();
      const options = { name: 'log', store, maxPageSize: 10 };
      const committed$ = process((update) => {
        handled.push('updateId' in update ? update.updateId : undefined);
      }, options);
      const seen = observe(committed$.pipe(takeUntil(timer(60_000))));
      timer(atMs).subscribe(() => {
        ledger.replace(others(...upTo(90)), 90);
      });
      flush();
      expect(handled).toEqual(upTo(handled.length).map((offset) => `1220${offset}`));
      expect(handled.length).toBeGreaterThan(0);
      expect(seen.error).toMatchObject({ _tag: 'CursorError', reason: 'ledger', processor: 'log' });
      expect(store.cursor?.offset).toBe(handled.length);
    });
  });

  it('is recognized by its cursor if it has handled nothing since it was started', () => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld(9);
      const handled: number[] = [];
      const options = { name: 'log', store: new PlainStore() };
      const committed$ = process((update) => {
        handled.push(update.offset);
      }, options);
      observe(committed$.pipe(takeUntil(timer(5_000))));
      const second = observe(timer(10_000).pipe(switchMap(() => committed$)));
      timer(15_000).subscribe(() => {
        ledger.replace(others(...upTo(30)), 30);
      });
      flush();
      expect(handled).toEqual(upTo(9));
      expect(second.error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    });
  });
});
