import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, map, take, tap, toArray } from 'rxjs';
import { acsDelta, createLedger, type Ledger, ledgerEffects, type Update } from '../../src/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { effort } from '../helpers/effort.js';
import { sandboxes } from '../helpers/localServers.js';
import { offsets } from '../helpers/observe.js';
import { useProcessTime } from '../helpers/time.js';

const start = sandboxes();
// with all effects, no update is filtered out
const updateFormat = ledgerEffects({ parties: 'any' });
const ledgerOf = ({ url }: Sandbox): Ledger => createLedger({ baseUrl: url, retry: { baseDelayMs: 5 } });

const allOffsets = (sandbox: Sandbox): number[] => sandbox.updates.map((update) => updateValue(update).offset);
const isUpdate = ({ _tag }: Update): boolean => _tag !== 'OffsetCheckpoint';
const nextTurn = () => new Promise(setImmediate);
const isPolled = ({ requests }: Sandbox): boolean => requests.some(({ query }) => 'stream_idle_timeout_ms' in query);

describe.each(['3.3', '3.4', '3.5', '3.6', '3.7'] as const)('a feed of a %s participant', (profile) => {
  it('emits each of many mixed updates once and in order, then new ones, and completes at its end', async () => {
    const sandbox = await start({ profile });
    sandbox.generate(effort(1_500, 10_000), { seed: 7 });
    const before = allOffsets(sandbox);
    expect(before.length).toBeGreaterThanOrEqual(1_500);
    const caughtUp = before.at(-1) ?? 0;
    const range = { beginExclusive: before[9] ?? 0, endInclusive: before[249] ?? 0 };
    const bounded$ = ledgerOf(sandbox).updates({ ...range, updateFormat });
    expect(offsets(await lastValueFrom(bounded$.pipe(toArray())))).toEqual(before.slice(10, 250));
    let live = 0;
    const seen = await lastValueFrom(
      ledgerOf(sandbox)
        .updates({ beginExclusive: 0, updateFormat })
        .pipe(
          filter(isUpdate),
          map(({ offset }) => offset),
          tap((offset) => {
            // appends an update for each of the first ten new ones
            if (offset < caughtUp || live === 10) return;
            live += 1;
            sandbox.generate(1, { seed: live });
          }),
          take(before.length + 10),
          toArray(),
        ),
    );
    expect(seen).toEqual(allOffsets(sandbox));
  });
});

describe('a feed', () => {
  it('aborts its poll when it is unsubscribed from', async () => {
    const sandbox = await start({ profile: '3.4' });
    sandbox.generate(3);
    const subscription = ledgerOf(sandbox).updates({ beginExclusive: sandbox.ledgerEnd, updateFormat }).subscribe();
    while (!isPolled(sandbox)) await nextTurn();
    subscription.unsubscribe();
    while (sandbox.requests.at(-1)?.aborted !== true) await nextTurn();
  });

  it('of a legacy filter emits the same as its update format', async () => {
    const sandbox = await start({ profile: '3.5' });
    sandbox.generate(400, { seed: 11 });
    const [party = ''] = sandbox.parties;
    const filters = { filtersByParty: { [party]: { cumulative: [] } } };
    const range = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd };
    const read = (updatesPath: '/v2/updates/flats' | '/v2/updates'): Promise<Update[]> =>
      lastValueFrom(
        createLedger({ baseUrl: sandbox.url, updatesPath })
          .updates({ ...range, filter: filters, verbose: false })
          .pipe(toArray()),
      );
    const legacy = await read('/v2/updates/flats');
    expect(legacy.length).toBeGreaterThan(10);
    expect(await read('/v2/updates')).toEqual(legacy);
    const delta$ = ledgerOf(sandbox).updates({ ...range, updateFormat: acsDelta({ parties: [party] }) });
    expect(offsets(await lastValueFrom(delta$.pipe(toArray())))).toEqual(offsets(legacy));
  });

  it.each([
    ['in about a round trip without early checkpoints', '3.4', 100],
    ['within 600 ms with them', '3.5', 600],
  ] as const)('delivers an update over a socket %s', async (_, profile, bound) => {
    useProcessTime();
    const sandbox = await start({ profile });
    sandbox.generate(1);
    let appended = 0;
    const arrived = firstValueFrom(
      ledgerOf(sandbox)
        .updates({ beginExclusive: sandbox.ledgerEnd, updateFormat })
        .pipe(
          filter(isUpdate),
          map(() => performance.now() - appended),
        ),
    );
    while (!isPolled(sandbox)) await nextTurn();
    appended = performance.now();
    sandbox.generate(1);
    expect(await arrived).toBeLessThan(bound);
  });
});
