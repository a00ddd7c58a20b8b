import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, map, merge, scan, take, timeout, toArray } from 'rxjs';
import { activeContracts, liveContracts } from '../../src/contracts/index.js';
import { acsDelta, createLedger } from '../../src/index.js';
import { memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import { cantonError, type FaultStatus } from '../../src/sandbox/index.js';
import { assetOf, withParties } from '../sandbox/commands.js';

const page = { kind: 'status', body: '<html>nginx</html>', contentType: 'text/html' } as const;
const outages: readonly (readonly [string, FaultStatus])[] = [
  ['404 with a page', { ...page, status: 404 }],
  ['403 with a page', { ...page, status: 403 }],
  ['200 with a page', { ...page, status: 200 }],
  ['200 with the JSON of another system', { kind: 'status', status: 200, body: { status: 'ok' } }],
  ['503 with a text', { kind: 'status', status: 503, body: 'no healthy upstream' }],
  ['500 of a participant that stops', { kind: 'status', status: 500, body: cantonError('LEDGER_API_INTERNAL_ERROR') }],
];

const isOfReader = /^\/v2\/(updates|state|commands\/completions)/;

describe('an outage of all readers of a ledger', () => {
  it.each(outages)('loses and repeats nothing: %s', async (_, fault) => {
    const { sandbox, alice } = await withParties();
    const ledger = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 1, maxDelayMs: 20 } });
    const options = { idleTimeoutMs: 50 } as const;
    const query = { parties: [alice] } as const;
    const updateFormat = acsDelta({ parties: [alice] });
    const first = await assetOf(sandbox, alice, { commandId: 'first' });
    const snapshot$ = activeContracts(ledger, query).pipe(
      filter((entry) => entry._tag === 'ActiveContract'),
      map(({ createdEvent }) => createdEvent.contractId),
      toArray(),
    );
    // every path has answered before the outage
    expect(await firstValueFrom(snapshot$)).toEqual([first]);

    const handled: string[] = [];
    const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat }, options);
    const readers$ = merge(
      processFeed(
        feed,
        (update) => {
          if (update._tag !== 'Transaction') return;
          for (const event of update.events) if (event._tag === 'CreatedEvent') handled.push(event.contractId);
        },
        { name: 'reader', store: memoryStore() },
      ).pipe(map(() => `handled ${handled.length}`)),
      liveContracts(ledger, query, options)
        .all$()
        .pipe(map((contracts) => `view ${contracts.length}`)),
      ledger.completions({ parties: [alice], userId: 'app', beginExclusive: 0 }, options).pipe(
        filter(({ _tag }) => _tag === 'Completion'),
        scan((count) => count + 1, 0),
        map((count) => `completions ${count}`),
      ),
    );
    const seen = new Set<string>();
    const reached = (count: number): boolean =>
      ['handled', 'view', 'completions'].every((name) => seen.has(`${name} ${count}`));
    let second = '';
    let during: readonly string[] = [];
    const events$ = readers$.pipe(
      map((event) => seen.add(event)),
      filter(() => {
        if (second === '' && reached(1)) {
          second = 'pending';
          sandbox.fault(fault, { path: isOfReader, times: 3 });
          void firstValueFrom(snapshot$).then(async (ids) => {
            during = ids;
            second = await assetOf(sandbox, alice, { commandId: 'second' });
          });
        }
        return reached(2);
      }),
      take(1),
      timeout(30_000),
    );
    await firstValueFrom(events$);
    expect(during).toEqual([first]);
    expect(handled).toEqual([first, second]);
    expect(seen).not.toContain('completions 3');
  });
});
