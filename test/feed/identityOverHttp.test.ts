import { describe, expect, it } from '@jest/globals';
import { createLedger, ledgerEffects, type Update } from '../../src/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { undiciPort } from '../../src/undici/index.js';
import { webSocketTransport } from '../../src/ws/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { observe, type Observed } from '../helpers/observe.js';
import { until } from '../helpers/time.js';

const start = sandboxes();

const idsOf = ({ updates }: Sandbox): string[] => updates.map((update) => updateValue(update).updateId);
const idsIn = ({ values }: Observed<Update>): string[] =>
  values.flatMap((update) => ('updateId' in update ? [update.updateId] : []));

/** The ways to read a ledger. */
const readers = [
  ['fetch, by polling', {}],
  ['undici, by polling', { port: undiciPort() }],
  ['fetch, by a WebSocket', { transport: webSocketTransport() }],
  ['undici, by a WebSocket', { port: undiciPort(), transport: webSocketTransport() }],
] as const;

/** Follows a ledger in each of these ways, until all feeds are live. */
async function followAll(sandbox: Sandbox): Promise<readonly Observed<Update>[]> {
  let live = 0;
  const feeds = readers.map(([, options]) => {
    const client = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5, maxDelayMs: 20 }, ...options });
    client.diagnostics$.subscribe(({ _tag }) => {
      if (_tag === ('transport' in options ? 'SocketOpened' : 'CaughtUp')) live += 1;
    });
    return observe(client.updates({ beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) }));
  });
  await until(() => live >= feeds.length);
  return feeds;
}

const profiles = ['3.3', '3.4', '3.5', '3.6', '3.7'] as const;

describe('each feed of a participant', () => {
  // at the same time, because they wait most of it
  it.each([
    ['of another participant', 'second::1220ab', 0],
    ['of the same participant, from a backup', 'first::1220ab', 20],
  ])('outlives a restart, and ends with an error where another ledger appears: one %s', async (_, id, shared) => {
    await Promise.all(
      profiles.map(async (profile) => {
        const sandbox = await start({ profile, participantId: 'first::1220ab' });
        sandbox.generate(40, { seed: 1 });
        const feeds = await followAll(sandbox);
        await sandbox.restart({ downMs: 20 });
        sandbox.generate(10, { seed: 1 });
        const first = idsOf(sandbox);
        await until(() => feeds.every((seen) => seen.error !== undefined || idsIn(seen).length >= first.length));
        expect([profile, ...feeds.map(({ error }) => error)]).toEqual([profile, ...feeds.map(() => undefined)]);
        const backupEnd = sandbox.updates.slice(0, shared).reduce((_end, update) => updateValue(update).offset, 0);
        const end = sandbox.ledgerEnd;
        await sandbox.restart({
          participantId: id,
          // longer than a feed waits between two polls
          downMs: 1_100,
          whileDown: () => {
            sandbox.restore(backupEnd);
            while (sandbox.ledgerEnd <= end + 20) sandbox.generate(20, { seed: 77 });
          },
        });
        await until(() => feeds.every(({ error }) => error !== undefined));
        const anotherLedger = { _tag: 'LedgerResetError', reason: 'anotherLedger' };
        for (const [i, [reader]] of readers.entries()) {
          const seen = feeds[i];
          expect([profile, reader, seen?.error]).toMatchObject([profile, reader, anotherLedger]);
          expect([profile, reader, seen && idsIn(seen)]).toEqual([profile, reader, first]);
        }
      }),
    );
  });
});
