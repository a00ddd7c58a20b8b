import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { of, take, tap } from 'rxjs';
import { activeContracts, contractChanges, liveContracts } from '../../src/contracts/index.js';
import { createLedger, createLedgerReader, type LedgerReader } from '../../src/index.js';
import { openTelemetry } from '../../src/otel/index.js';
import { contractsFeed, processFeed, updatesFeed } from '../../src/process/index.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { until } from '../process/support.js';

const request = { beginExclusive: 0, updateFormat };
const baseUrl = 'http://ledger.example';

/** What reads over the connection of a ledger. */
const readers: readonly (readonly [string, (ledger: LedgerReader) => unknown])[] = [
  ['updatesFeed', (ledger) => updatesFeed(ledger, request)],
  ['contractsFeed', (ledger) => contractsFeed(ledger, { parties: 'any' })],
  ['activeContracts', (ledger) => activeContracts(ledger, { parties: 'any' })],
  ['liveContracts', (ledger) => liveContracts(ledger, { parties: 'any' })],
  ['contractChanges', (ledger) => contractChanges(ledger, { parties: 'any' })],
];

describe.each(readers)('%s', (_, read) => {
  it.each([
    ['createLedger', () => createLedger({ baseUrl })],
    ['createLedgerReader', () => createLedgerReader({ baseUrl })],
    ['interceptors', () => createLedger({ baseUrl, interceptors: [openTelemetry()] })],
  ])('accepts a copy of a ledger from %s', (__, create) => {
    const ledger = create();
    expect(() => read(ledger)).not.toThrow();
    expect(() => read({ ...ledger })).not.toThrow();
    expect(() => read({ ...ledger, ledgerEnd: () => of(7) })).not.toThrow();
    expect(() => read(Object.create(ledger) as LedgerReader)).not.toThrow();
    expect(() => read(new Proxy(ledger, {}))).not.toThrow();
  });

  it('refuses a ledger with other updates, which it would not read', () => {
    const ledger = createLedger({ baseUrl });
    const logged = ledger.updates(request).pipe(tap(() => undefined));
    const message = 'ledger.updates must be that of createLedger';
    expect(() => read({ ...ledger, updates: () => logged })).toThrow(message);
    expect(() => read({ ...ledger, updates: () => logged })).toThrow(TypeError);
    expect(() => read({} as LedgerReader)).toThrow(message);
  });
});

describe('a copy of a ledger', () => {
  itInVirtualTime('is processed with the ledger end of the copy', ({ flush }) => {
    const { client, ledger } = world();
    fill(ledger, ...upTo(3));
    const feed = updatesFeed({ ...client, ledgerEnd: () => of(42) }, request);
    const end = observe(feed.end$.pipe(take(1)));
    const seen = observe(processFeed(feed, () => undefined).pipe(until(1_000)));
    flush();
    expect(end.values).toEqual([42]);
    expect(seen.values.at(-1)).toMatchObject({ offset: 3 });
  });

  it('shows no more than the ledger: no token, no connection', () => {
    const ledger = createLedger({ baseUrl, token: 'secret', headers: { 'x-key': 'secret' } });
    for (const shown of [ledger, { ...ledger }]) {
      expect(Reflect.ownKeys(shown).map(String).sort()).toEqual(
        [
          'completions',
          'diagnostics$',
          'estimateCost',
          'executeAndWaitForTransaction',
          'ledgerEnd',
          'offsetAt',
          'parties',
          'prepare',
          'submit',
          'submitAndWaitForTransaction',
          'updates',
        ].sort(),
      );
      expect(inspect(shown, { depth: 20, showHidden: true })).not.toContain('secret');
      expect(JSON.stringify(shown)).not.toContain('secret');
    }
  });
});
