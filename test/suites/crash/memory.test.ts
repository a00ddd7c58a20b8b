import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { firstValueFrom, Subject } from 'rxjs';
import { ledgerEffects } from '../../../src/codecs/UpdateFormat.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import type { Work } from '../../../src/process/ProcessOptions.js';
import { memoryStore } from '../../../src/process/memoryStore.js';
import { processFeed } from '../../../src/process/processFeed.js';
import { updatesFeed } from '../../../src/process/updatesFeed.js';
import { hashOf, idOf } from './children/marks.js';
import { parameters, print } from './crashes.js';
import { findFlawsWithRepeats, type Taken } from './flaws.js';
import { world } from './world.js';

const commitEvery = 20;
const many = parameters(300, 75);

it(
  'a processor with a store in memory repeats at most one commit, and skips nothing, when it is abandoned at any moment',
  async () => {
    const { kills, updates, random } = many;
    const given = await world(many);
    const begunAt = performance.now();
    try {
      const ledger = createLedger({
        baseUrl: given.sandbox.url,
        requestTimeoutMs: 250,
        retry: { baseDelayMs: 1, maxDelayMs: 20 },
      });
      const store = memoryStore();
      const taken: Taken[] = [];
      /** Runs a processor until its handler hangs, or until it is unsubscribed. */
      const runLife = async (life: number): Promise<void> => {
        const over$ = new Subject<void>();
        const isOver = firstValueFrom(over$);
        let left = Math.floor((random() * 2 * updates) / kills);
        const [hangs, afterMs] = [random() < 0.8, random() * 30];
        const handler = async (update: Work): Promise<void> => {
          taken.push({ life, offset: update.offset, updateId: idOf(update), hash: hashOf(update) });
          left -= 1;
          if (left > 0) return;
          over$.next();
          // a handler that ends during a later life must not move the cursor
          if (hangs) await wait(5 + afterMs);
        };
        const committed$ = processFeed(
          updatesFeed(ledger, { beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) }),
          handler,
          { name: 'memory', store, commitEvery: { updates: commitEvery }, stopWithinMs: hangs ? 0 : 10_000 },
        );
        const failed$ = new Subject<never>();
        const subscription = committed$.subscribe({
          error: (error: unknown) => {
            failed$.error(error);
          },
        });
        const failed = firstValueFrom(failed$, { defaultValue: undefined });
        await Promise.race([isOver, failed, wait(300)]);
        failed$.complete();
        subscription.unsubscribe();
        // time for a graceful end
        await wait(hangs ? 2 : 20);
      };
      given.grow(0.25);
      for (let life = 1; life <= kills; life += 1) {
        await runLife(life);
        given.grow(0.75 / kills);
      }
      given.grow(1);
      const rest$ = processFeed(
        updatesFeed(ledger, {
          beginExclusive: 0,
          endInclusive: given.end(),
          updateFormat: ledgerEffects({ parties: 'any' }),
        }),
        (update) => {
          taken.push({ life: kills + 1, offset: update.offset, updateId: idOf(update), hash: hashOf(update) });
        },
        { name: 'memory', store, commitEvery: { updates: commitEvery } },
      );
      await new Promise((resolve, reject) =>
        rest$.subscribe({
          complete: () => {
            resolve(true);
          },
          error: reject,
        }),
      );
      const { flaws, ...repeats } = findFlawsWithRepeats(await given.entries(), taken, commitEvery);
      const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
      print(`memory: ${kills} abandoned in ${seconds} s: ${JSON.stringify(repeats)}`);
      expect(flaws).toEqual([]);
    } finally {
      await given.close();
    }
  },
  many.timeoutMs,
);
