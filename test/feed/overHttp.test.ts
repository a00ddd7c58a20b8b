import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, map, take, takeWhile, tap, toArray, type Observable } from 'rxjs';
import { acsDelta, createLedger, type Ledger, ledgerEffects, ofVariant, type Update } from '../../src/index.js';
import { cantonError, type Sandbox } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/events.js';
import { offsets } from '../helpers/observe.js';
import { useProcessTime } from '../helpers/time.js';
import { sandboxes } from '../helpers/localServers.js';

const start = sandboxes();
const updateFormat = acsDelta({ parties: 'any' });
const ledgerOf = ({ url }: Sandbox): Ledger => createLedger({ baseUrl: url, retry: { baseDelayMs: 5 } });

const allOffsets = (sandbox: Sandbox): number[] => sandbox.updates.map((update) => updateValue(update).offset);
const isUpdate = ({ _tag }: Update): boolean => _tag !== 'OffsetCheckpoint';

/** The updates up to the one with the given offset, without checkpoints, as offsets. */
const seenUpTo = (feed$: Observable<Update>, last: number): Promise<number[]> =>
  lastValueFrom(
    feed$.pipe(
      takeWhile(({ offset }) => offset < last, true),
      filter(isUpdate),
      map(({ offset }) => offset),
      toArray(),
    ),
  );

describe.each(['3.4', '3.5', '3.6'] as const)('a feed of a %s participant', (profile) => {
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
  it('is independent for each subscriber', async () => {
    const sandbox = await start();
    sandbox.generate(500, { seed: 1 });
    const last = allOffsets(sandbox).at(-1) ?? 0;
    const feed$ = ledgerOf(sandbox).updates({ beginExclusive: 0, updateFormat });
    const [one, other] = await Promise.all([seenUpTo(feed$, last), seenUpTo(feed$, last)]);
    expect(one).toEqual(other);
    expect(one.length).toBeGreaterThan(400);
  });

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

  it('is exact over connections that are reset, cut and late, and with answers of every kind of failure', async () => {
    const sandbox = await start({ maxListElements: 40 });
    sandbox.generate(1_000, { seed: 5 });
    const path = /updates/;
    for (const bytes of [0, 1, 100, 5_000, 20_000]) sandbox.fault({ kind: 'truncate', bytes }, { path });
    sandbox.fault({ kind: 'reset' }, { path, times: 2 });
    sandbox.fault({ kind: 'reset', when: 'after' }, { path, times: 2 });
    sandbox.fault({ kind: 'delay', ms: 20 }, { path });
    sandbox.fault(
      { kind: 'status', status: 503, body: 'The server was not able to produce a timely response' },
      { path },
    );
    sandbox.fault({ kind: 'status', status: 503, body: cantonError('SERVICE_NOT_RUNNING') }, { path });
    sandbox.fault({ kind: 'status', status: 409, body: cantonError('PARTICIPANT_BACKPRESSURE') }, { path });
    sandbox.fault({ kind: 'body', body: '[]' }, { path: '/v2/nowhere' });
    const feed$ = ledgerOf(sandbox).updates({ beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) });
    expect(await seenUpTo(feed$, sandbox.ledgerEnd)).toEqual(allOffsets(sandbox));
    expect(sandbox.requests.some(({ status }) => status === 413)).toBe(true);
  });

  it('switches to /v2/updates in mid-stream when its participant is upgraded to 3.6', async () => {
    const sandbox = await start({ profile: '3.5' });
    sandbox.generate(600, { seed: 2 });
    const feed$ = ledgerOf(sandbox).updates({ beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) });
    let upgraded = false;
    const seen = await seenUpTo(
      feed$.pipe(
        tap(() => {
          if (!upgraded) sandbox.configure({ profile: '3.6' });
          upgraded = true;
        }),
      ),
      sandbox.ledgerEnd,
    );
    expect(seen).toEqual(allOffsets(sandbox));
    expect(new Set(sandbox.requests.map(({ path }) => path))).toEqual(
      new Set(['/v2/state/ledger-end', '/v2/updates/flats', '/v2/updates']),
    );
  });

  it('reads a service that has only the two operations of the interface document', async () => {
    const sandbox = await start({ interfaceOnly: true });
    sandbox.generate(1_000, { seed: 4 });
    const feed$ = ledgerOf(sandbox).updates({ beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) });
    expect(await seenUpTo(feed$, allOffsets(sandbox).at(-1) ?? 0)).toEqual(allOffsets(sandbox));
  });

  it('gets a token for each request, and continues with another one', async () => {
    let valid = 'token-1';
    const sandbox = await start({ checkToken: (token) => token === valid });
    sandbox.generate(500, { seed: 4 });
    const ledger = createLedger({ baseUrl: sandbox.url, token: () => Promise.resolve(valid) });
    const seen = await seenUpTo(
      ledger.updates({ beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) }).pipe(
        tap(({ offset }) => {
          if (offset % 7 === 0) valid = `token-${offset}`;
        }),
      ),
      sandbox.ledgerEnd,
    );
    expect(seen).toEqual(allOffsets(sandbox));
  });

  it('ends with the earliest offset if the ledger is pruned', async () => {
    const sandbox = await start();
    sandbox.generate(100);
    sandbox.prune(50);
    const failure = await lastValueFrom(ledgerOf(sandbox).updates({ beginExclusive: 0, updateFormat })).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ _tag: 'PrunedError', earliestOffset: 50 });
  });

  it('reads in descending order on 3.5, and fails on 3.4', async () => {
    for (const profile of ['3.5', '3.4'] as const) {
      const sandbox = await start({ profile });
      sandbox.generate(450, { seed: 9 });
      const feed$ = ledgerOf(sandbox).updates({
        beginExclusive: 0,
        endInclusive: sandbox.ledgerEnd,
        descendingOrder: true,
        updateFormat: ledgerEffects({ parties: 'any' }),
      });
      const seen: unknown = await lastValueFrom(feed$.pipe(toArray())).catch((error: unknown) => error);
      if (profile === '3.5') expect(Array.isArray(seen) && offsets(seen)).toEqual(allOffsets(sandbox).reverse());
      else expect(seen).toMatchObject({ _tag: 'OrderError' });
    }
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
  it('delivers 500 updates a second within 250 ms at the 99th percentile', async () => {
    useProcessTime();
    const sandbox = await start({ profile: '3.5' });
    sandbox.generate(1);
    const appendedAt = new Map<number, number>();
    const feed$ = ledgerOf(sandbox).updates({
      beginExclusive: sandbox.ledgerEnd,
      updateFormat: ledgerEffects({ parties: 'any' }),
    });
    const delays = lastValueFrom(
      feed$.pipe(
        ofVariant('Transaction', 'Reassignment', 'TopologyTransaction'),
        map(({ offset }) => performance.now() - (appendedAt.get(offset) ?? Infinity)),
        take(1_500),
        toArray(),
      ),
    );
    // ten every 20 ms
    const timer = setInterval(() => {
      for (let i = 0; i < 10; i += 1) {
        const at = performance.now();
        appendedAt.set(sandbox.generate(1, { seed: appendedAt.size }), at);
      }
    }, 20);
    const sorted = (await delays).sort((a, b) => a - b);
    clearInterval(timer);
    expect(sorted[Math.floor(sorted.length * 0.99)]).toBeLessThan(250);
  });

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
