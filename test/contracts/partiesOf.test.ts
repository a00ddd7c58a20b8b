import { describe, expect, it } from '@jest/globals';
import { partiesOf } from '../../src/contracts/partiesOf.js';
import { Activity } from '../../src/devtools/Activity.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { observe, type Observed } from '../helpers/observe.js';
import { type Reply, scriptedService, type ServiceRequest } from '../helpers/scripted.js';
import { until } from '../helpers/servers.js';
import { errorBody, errorReply, ok } from '../helpers/wire.js';
import { later, runVirtually } from '../helpers/virtualTime.js';

const right = (kind: string, party?: string): object => ({
  kind: { [kind]: { value: party === undefined ? {} : { party } } },
});
const hosted = (party: string, isLocal = true): object => ({ party, isLocal, identityProviderId: '' });
const rightsPath = '/v2/users/onboarding%2Fone/rights';

/** Observes the parties for some time, from a participant with the given replies. */
function play(
  reply: (request: ServiceRequest, count: number) => Reply,
  options: Parameters<typeof partiesOf>[1],
  ms = 100_000,
): { readonly seen: Observed<readonly string[]>; readonly paths: readonly string[] } {
  const service = scriptedService((request, count) => [reply(request, count)]);
  const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
  let seen: Observed<readonly string[]> | undefined;
  runVirtually(() => {
    const parties = (seen = observe(partiesOf(ledger, options)));
    later(ms, () => {
      parties.subscription.unsubscribe();
    });
  });
  if (seen === undefined) throw new Error('nothing was observed');
  return { seen, paths: service.requests.map(({ path }) => path) };
}

describe('partiesOf', () => {
  it('emits the parties as which a user can act or read, in order, and again when they have changed', () => {
    const rights = [right('CanReadAs', 'bob'), right('CanActAs', 'alice'), right('CanActAs', 'bob')];
    const { seen, paths } = play(
      (_, count) =>
        ok({
          rights: [
            ...rights,
            right('ParticipantAdmin'),
            right('CanExecuteAs', 'dora'),
            right('Unheard', 'emil'),
            ...(count > 3 ? [right('CanReadAs', 'carol')] : []),
          ],
        }),
      { userId: 'onboarding/one' },
      95_000,
    );
    expect(seen.values).toEqual([
      ['alice', 'bob'],
      ['alice', 'bob', 'carol'],
    ]);
    // at once, and every 30 seconds
    expect(paths).toEqual(Array.from({ length: 4 }, () => rightsPath));
  });

  it('emits the parties that the participant hosts, for a user that can read or act as all of them, too', () => {
    const pagesWith =
      (kind: string) =>
      ({ path, query }: ServiceRequest): Reply => {
        if (path === rightsPath) return ok({ rights: [right(kind), right('CanActAs', 'zoe')] });
        return query['pageToken'] === undefined
          ? ok({ partyDetails: [hosted('bob'), hosted('remote', false)], nextPageToken: 'next' })
          : ok({ partyDetails: [hosted('alice')] });
      };
    expect(play(pagesWith(''), {}, 1_000).seen.values).toEqual([['alice', 'bob']]);
    for (const kind of ['CanReadAsAnyParty', 'CanActAsAnyParty'])
      expect(play(pagesWith(kind), { userId: 'onboarding/one' }, 1_000).seen.values).toEqual([['alice', 'bob']]);
  });

  it('emits an empty list for a user without rights', () => {
    expect(play(() => ok({}), { userId: 'nobody' }, 1_000).seen.values).toEqual([[]]);
  });

  it('reads them again as often as it is told', () => {
    expect(play(() => ok({ rights: [] }), { userId: 'user', pollMs: 1_000 }, 10_500).paths).toHaveLength(11);
  });

  it('retries after a transient failure, also later, and fails with any other', () => {
    const down = errorReply(503, errorBody('SERVER_IS_SHUTTING_DOWN', 1));
    const flaky = play((_, count) => (count % 2 === 0 ? down : ok({ rights: [right('CanActAs', `party${count}`)] })), {
      userId: 'user',
      pollMs: 10_000,
    });
    expect(flaky.seen.error).toBeUndefined();
    expect(flaky.seen.values.length).toBeGreaterThan(4);
    const unknown = play(() => errorReply(404, errorBody('USER_NOT_FOUND', 11)), { userId: 'user' });
    expect(unknown.seen.error).toMatchObject({ _tag: 'ApiError', status: 404 });
    expect(unknown.paths).toHaveLength(1);
  });

  it('reports its retries as those of no feed, which would never recover nor end', () => {
    const down = errorReply(503, errorBody('SERVER_IS_SHUTTING_DOWN', 1));
    const service = scriptedService((_, count) => [count < 3 ? down : ok({ rights: [] })]);
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    const activity = new Activity();
    const reported: Diagnostic[] = [];
    ledger.diagnostics$.subscribe((diagnostic) => {
      reported.push(diagnostic);
      activity.add(diagnostic);
    });
    runVirtually(() => {
      const { subscription } = observe(partiesOf(ledger, { userId: 'onboarding/one' }));
      later(100_000, () => {
        subscription.unsubscribe();
      });
    });
    expect(reported.map(({ _tag, feed }) => [_tag, feed])).toEqual([
      ['RetryScheduled', undefined],
      ['RetryScheduled', undefined],
    ]);
    // a panel would show it as a feed that retries, for good
    expect(activity.feeds).toEqual([]);
  });

  it('refuses invalid options', () => {
    const ledger = createLedger({ baseUrl: 'http://ledger.example' });
    expect(() => partiesOf(ledger, { userId: '' })).toThrow(TypeError);
    expect(() => partiesOf(ledger, { pollMs: 0 })).toThrow(TypeError);
  });

  it('reads the rights that the sandbox has', async () => {
    const sandbox = await startSandbox();
    try {
      const alice = sandbox.hostedParty('alice');
      const ledger = createLedger({ baseUrl: sandbox.url });
      const seen = observe(partiesOf(ledger, { userId: 'me', pollMs: 20 }));
      await until(() => seen.values.length === 1);
      const bob = sandbox.hostedParty('bob');
      await until(() => seen.values.length === 2);
      seen.subscription.unsubscribe();
      expect(seen.values[0]).toContain(alice);
      expect(seen.values[1]).toEqual([...sandbox.parties].sort());
      expect(seen.values[1]).toContain(bob);
    } finally {
      await sandbox.close();
    }
  });
});
