import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import { endWith, filter, firstValueFrom, lastValueFrom, map, merge, timeout, timer, toArray } from 'rxjs';
import { activeContracts, contractChanges, type ContractEntry, liveContracts } from '../../../src/contracts/index.js';
import { acsDelta } from '../../../src/codecs/UpdateFormat.js';
import type { Update } from '../../../src/codecs/Update.js';
import type { UpdatesOptions } from '../../../src/feed/UpdatesOptions.js';
import { createLedger } from '../../../src/ledger/createLedger.js';

/**
 * Tests against a running participant, which only read. They are skipped unless its address is given.
 * `CANTON_RX_LEDGER_URL=http://127.0.0.1:7575 CANTON_RX_LEDGER_TOKEN=… npm run test:participant`
 */
const { CANTON_RX_LEDGER_URL: baseUrl, CANTON_RX_LEDGER_TOKEN: token, CANTON_RX_LEDGER_PARTY: party } = process.env;
const most = 5_000;

const ledger = createLedger({ baseUrl: baseUrl ?? 'http://127.0.0.1:1', token });
const updateFormat = acsDelta({ parties: party === undefined ? 'any' : [party] });

const read = (
  beginExclusive: number,
  endInclusive: number,
  options: Pick<UpdatesOptions, 'parallelRanges' | 'maxPageSize' | 'retry'> = {},
): Promise<readonly Update[]> =>
  lastValueFrom(ledger.updates({ beginExclusive, endInclusive, updateFormat }, options).pipe(toArray()));

/** The ledger end, and an offset before it with not too many updates after it. */
async function range(): Promise<{ readonly begin: number; readonly end: number }> {
  const end = await firstValueFrom(ledger.ledgerEnd());
  return { begin: Math.max(0, end - most), end };
}

(baseUrl === undefined ? describe.skip : describe)('a participant', () => {
  it('has updates that decode, in ascending order', async () => {
    const { begin, end } = await range();
    const offsets = (await read(begin, end)).map(({ offset }) => offset);
    expect(offsets).toStrictEqual([...new Set(offsets)].sort((a, b) => a - b));
    expect(offsets.every((offset) => begin < offset && offset <= end)).toBe(true);
  });

  it('returns the same updates for every way to read them', async () => {
    const { begin, end } = await range();
    const middle = Math.floor((begin + end) / 2);
    const whole = await read(begin, end, { parallelRanges: 1 });
    expect(await read(begin, end, { parallelRanges: 4, maxPageSize: 20 })).toStrictEqual(whole);
    expect([...(await read(begin, middle)), ...(await read(middle, end))]).toStrictEqual(whole);
  }, 240_000);

  it('can be followed: a feed from its end catches up at once, and stays open', async () => {
    const { end } = await range();
    const caughtUp$ = ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'CaughtUp'));
    const feed$ = ledger.updates({ beginExclusive: end, updateFormat }).pipe(filter(() => false));
    await firstValueFrom(merge(caughtUp$, feed$).pipe(timeout(20_000)));
    const end$ = timer(15_000).pipe(map(() => 'is open'));
    expect(await firstValueFrom(merge(end$, feed$.pipe(endWith('has completed'))))).toBe('is open');
  });

  it('has active contracts that are the same, however they are read', async () => {
    const parties = party === undefined ? 'any' : [party];
    const { end } = await range();
    // the participant may be asked for an older offset, unless it is pruned
    const entries$ = activeContracts(ledger, { parties, activeAtOffset: end }, { maxSnapshotPageSize: 50 });
    const idsOf = (entries: readonly ContractEntry[]): readonly string[] =>
      entries.flatMap((entry) => (entry._tag === 'ActiveContract' ? [entry.createdEvent.contractId] : [])).sort();
    const entries = await lastValueFrom(entries$.pipe(toArray()));
    const again = await lastValueFrom(activeContracts(ledger, { parties, activeAtOffset: end }).pipe(toArray()));
    expect(idsOf(again)).toStrictEqual(idsOf(entries));
    const changes$ = contractChanges(ledger, { parties }, { resumeFrom: end });
    await firstValueFrom(changes$.pipe(filter(({ _tag }) => _tag === 'CaughtUp')));
  }, 240_000);

  it('has a live view that becomes live', async () => {
    const parties = party === undefined ? 'any' : [party];
    const { state$ } = liveContracts(ledger, { parties });
    const state = await firstValueFrom(state$.pipe(filter(({ data }) => data === 'live')));
    expect(state).toMatchObject({ data: 'live', connection: { status: 'open' } });
  }, 240_000);

  it('reports a cursor beyond its end, once it has waited for a participant that reads again', async () => {
    const { end } = await range();
    const beyond = read(end + 1_000_000, end + 1_000_001, { retry: { giveUpAfterMs: 3_000 } });
    await expect(beyond).rejects.toMatchObject({ _tag: 'LedgerResetError' });
  }, 60_000);
});
