import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lastValueFrom, toArray } from 'rxjs';
import { acsDelta, ledgerEffects, type UpdateFormat } from '../../../src/codecs/UpdateFormat.js';
import type { Update } from '../../../src/codecs/Update.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { addedFormat } from '../../../src/process/backfill/addedFormat.js';
import { memoryStore } from '../../../src/process/memoryStore.js';
import { processFeed } from '../../../src/process/processFeed.js';
import { updatesFeed } from '../../../src/process/updatesFeed.js';
import { createSandbox } from '../../../src/sandbox/index.js';
import { effort } from '../../helpers/effort.js';

const [alice, bob] = ['alice::1220ab', 'bob::1220ab'];
const only = (...parties: readonly string[]): UpdateFormat => acsDelta({ parties, topology: false });

it('adds nothing if nothing is added, and only the parties that are', () => {
  expect(addedFormat(only(alice), only(bob, alice))).toBeUndefined();
  expect(addedFormat(only(alice, bob), only(alice))).toEqual(only(bob));
  const all = acsDelta({ parties: [alice, bob] });
  expect(addedFormat(all, acsDelta({ parties: [bob] }))).toEqual(acsDelta({ parties: [alice] }));
  expect(addedFormat(all, acsDelta({ parties: 'any' }))).toBeUndefined();
  expect(addedFormat(acsDelta({ parties: 'any' }), all)).toEqual(acsDelta({ parties: 'any' }));
});

it('adds a party whose filters have changed, and all parties of another shape', () => {
  const asset = '#sandbox-assets:Main:Asset';
  const both = acsDelta({ parties: [alice, bob], topology: false });
  const former = {
    ...both,
    includeTransactions: acsDelta({ parties: [alice, bob], templates: [asset] }).includeTransactions,
  };
  expect(addedFormat(both, former)).toEqual({ includeTransactions: both.includeTransactions });
  const effects = ledgerEffects({ parties: [alice], topology: false });
  expect(addedFormat(effects, only(alice))).toEqual({ includeTransactions: effects.includeTransactions });
});

const hosted = ['a1', 'b0', 'ca', 'd0'].map(
  (byte, n) => `${['alice', 'bob', 'carol', 'dora'][n]}::1220${byte.repeat(16)}`,
);
const templates = [
  '#sandbox-assets:Main:Asset',
  '#sandbox-assets:Main:Offer',
  '#sandbox-tasks:Tasks.Model:Task',
] as const;
const formats: fc.Arbitrary<UpdateFormat> = fc
  .record({
    parties: fc.oneof(fc.subarray(hosted, { minLength: 1 }), fc.constant('any' as const)),
    templates: fc.subarray([...templates]),
    topology: fc.boolean(),
    reassignments: fc.boolean(),
    isDelta: fc.boolean(),
  })
  .map(({ isDelta, ...options }) => (isDelta ? acsDelta(options) : ledgerEffects(options)));

it('with backfill, each of two requests has its updates once, the added ones as the second request shows them (G85)', async () => {
  const sandbox = createSandbox();
  sandbox.generate(80, { seed: 3 });
  const ledger = createLedger({ baseUrl: 'http://sandbox', port: sandbox.port });
  const endInclusive = sandbox.ledgerEnd;
  const read = async (updateFormat: UpdateFormat): Promise<ReadonlyMap<number, Update>> => {
    const updates = await lastValueFrom(
      ledger.updates({ beginExclusive: 0, endInclusive, updateFormat }).pipe(toArray()),
    );
    return new Map(updates.flatMap((update) => (update._tag === 'OffsetCheckpoint' ? [] : [[update.offset, update]])));
  };
  await fc.assert(
    fc.asyncProperty(formats, formats, async (former, now) => {
      const store = memoryStore();
      const handled = new Map<number, Update>();
      const run = async (updateFormat: UpdateFormat, isPast?: true): Promise<void> => {
        const options = { onSelectionChange: 'continue', backfill: true, maxPageSize: 30 } as const;
        const feed = updatesFeed(ledger, { beginExclusive: 0, endInclusive, updateFormat }, options);
        const handle = ({ isBackfill, ...update }: Update & { readonly isBackfill?: true }): void => {
          expect([isBackfill, handled.has(update.offset)]).toEqual([isPast, false]);
          handled.set(update.offset, update);
        };
        await lastValueFrom(processFeed(feed, handle as never, { name: 'log', store }), { defaultValue: undefined });
      };
      await run(former);
      await run(now, true);
      const [first, second] = [await read(former), await read(now)];
      expect(handled).toEqual(new Map([...second, ...first]));
    }),
    { numRuns: effort(40, 400) },
  );
});
