import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, map, take, tap, toArray } from 'rxjs';
import { acsDelta, createLedger, type Ledger, ledgerEffects, type Update } from '../../src/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { offsets } from '../helpers/observe.js';
import { useProcessTime } from '../helpers/time.js';
import { sandboxes } from '../helpers/localServers.js';

const start = sandboxes();
const updateFormat = acsDelta({ parties: 'any' });
const ledgerOf = ({ url }: Sandbox): Ledger => createLedger({ baseUrl: url, retry: { baseDelayMs: 5 } });

const allOffsets = (sandbox: Sandbox): number[] => sandbox.updates.map((update) => updateValue(update).offset);
const isUpdate = ({ _tag }: Update): boolean => _tag !== 'OffsetCheckpoint';

describe.each(['3.3', '3.4', '3.5', '3.6', '3.7'] as const)('a feed of a %s participant', (profile) => {
  it('emits each of 10 000 mixed updates once and in order, then new ones', async () => {
    const sandbox = await start({ profile });
    sandbox.generate(10_000, { seed: 7 });
    // with all effects, no update is filtered out
    const feed$ = ledgerOf(sandbox).updates({ beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) });
    const before = allOffsets(sandbox);
    const caughtUp = before.at(-1) ?? 0;
    let live = 0;
    const seen = await lastValueFrom(
      feed$.pipe(
        filter(isUpdate),
        map(({ offset }) => offset),
        tap((offset) => {
          // appends an update for each of the first ten new ones
          if (offset >= caughtUp && live < 10) {
            live += 1;
            sandbox.generate(1, { seed: live });
          }
        }),
        take(before.length + 10),
        toArray(),
      ),
    );
    expect(before).toHaveLength(10_000);
    expect(seen).toEqual(allOffsets(sandbox));
  });

  it('completes at its end', async () => {
    const sandbox = await start({ profile });
    sandbox.generate(300, { seed: 3 });
    const all = allOffsets(sandbox);
    const feed$ = ledgerOf(sandbox).updates({
      beginExclusive: all[9] ?? 0,
      endInclusive: all[249] ?? 0,
      updateFormat: ledgerEffects({ parties: 'any' }),
    });
    const seen = await lastValueFrom(feed$.pipe(toArray()));
    expect(offsets(seen)).toEqual(all.slice(10, 250));
  });
});

describe('a feed', () => {
  it('aborts its poll when it is unsubscribed from', async () => {
    const sandbox = await start({ profile: '3.4' });
    sandbox.generate(3);
    const feed$ = ledgerOf(sandbox).updates({ beginExclusive: sandbox.ledgerEnd, updateFormat });
    const subscription = feed$.subscribe();
    const polling = (): boolean => sandbox.requests.some(({ query }) => 'stream_idle_timeout_ms' in query);
    while (!polling()) await new Promise(setImmediate);
    subscription.unsubscribe();
    while (sandbox.requests.at(-1)?.aborted !== true) await new Promise(setImmediate);
  });

  it('of a legacy filter emits the same as its update format', async () => {
    const sandbox = await start({ profile: '3.5' });
    sandbox.generate(400, { seed: 11 });
    const parties = sandbox.parties.slice(0, 1);
    const filtersByParty = Object.fromEntries(parties.map((party) => [party, { cumulative: [] }]));
    const read = (updatesPath: '/v2/updates/flats' | '/v2/updates'): Promise<Update[]> =>
      lastValueFrom(
        createLedger({ baseUrl: sandbox.url, updatesPath })
          .updates({ beginExclusive: 0, endInclusive: sandbox.ledgerEnd, filter: { filtersByParty }, verbose: false })
          .pipe(toArray()),
      );
    const legacy = await read('/v2/updates/flats');
    expect(legacy.length).toBeGreaterThan(10);
    expect(await read('/v2/updates')).toEqual(legacy);
  });
});

describe('the live path over sockets', () => {
  it('delivers an update in about a round trip without early checkpoints, and within 600 ms with them', async () => {
    useProcessTime();
    for (const [profile, bound] of [
      ['3.4', 100],
      ['3.5', 600],
    ] as const) {
      const sandbox = await start({ profile });
      sandbox.generate(1);
      const feed$ = ledgerOf(sandbox).updates({
        beginExclusive: sandbox.ledgerEnd,
        updateFormat: ledgerEffects({ parties: 'any' }),
      });
      const polling = (): boolean => sandbox.requests.some(({ query }) => 'stream_idle_timeout_ms' in query);
      let appended = 0;
      const arrived = firstValueFrom(
        feed$.pipe(
          filter(isUpdate),
          map(() => performance.now() - appended),
        ),
      );
      while (!polling()) await new Promise(setImmediate);
      appended = performance.now();
      sandbox.generate(1);
      expect(await arrived).toBeLessThan(bound);
    }
  });
});
