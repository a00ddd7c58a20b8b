import { expect, it } from '@jest/globals';
import { timer } from 'rxjs';
import type { Committed } from '../../src/process/ProcessOptions.js';
import { observe, type Observed } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { ok, transaction } from '../helpers/wire.js';
import { fill, upTo } from '../helpers/world.js';
import { mockPlatform, name, PlainStore, processWorld } from './support.js';
import { MemoryTransactions } from './transactionalStore.js';

mockPlatform();

/** A page with two updates in the wrong order, after the last update or without it. */
const disorders: readonly (readonly [string, readonly number[]])[] = [
  ['after the last update', [10, 12, 11]],
  ['without the last update', [12, 11]],
  ['of a single update, twice', [10, 9]],
];
const stores: readonly (readonly [string, () => PlainStore | MemoryTransactions])[] = [
  ['a plain store', () => new PlainStore()],
  ['transactions', () => new MemoryTransactions()],
];

it.each(stores.flatMap(([kind, store]) => disorders.map(([how, offsets]) => [how, kind, offsets, store] as const)))(
  'a page out of order, %s, moves no cursor back: each update once with %s',
  (_, __, offsets, makeStore) => {
    marbles(({ flush }) => {
      let isDisordered = true;
      const store = makeStore();
      const isPage = ({ path, body }: ServiceRequest): boolean =>
        path.startsWith('/v2/updates') && Number(body['beginExclusive']) >= 9;
      const { process, ledger } = processWorld(10, {
        fault: (request) =>
          isDisordered && isPage(request) ? ok(offsets.map((offset) => transaction(offset))) : undefined,
      });
      const handled: number[] = [];
      const start = (): Observed<Committed> =>
        observe(process<unknown>(({ offset }) => void handled.push(offset), { store, name }));
      const runs = [start()];
      timer(10_000).subscribe(() => {
        expect(runs[0]?.error).toMatchObject({ _tag: 'OrderError' });
        expect(runs[0]?.values.at(-1)?.offset).toBe(10);
        isDisordered = false;
        fill(ledger, 11, 12);
        runs.push(start());
      });
      timer(20_000).subscribe(() => {
        for (const { subscription } of runs) subscription.unsubscribe();
      });
      flush();
      expect(handled).toEqual(upTo(12));
    });
  },
);
