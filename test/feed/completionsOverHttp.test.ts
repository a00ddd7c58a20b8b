import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, map, take, tap, toArray } from 'rxjs';
import { createLedger, ofChange } from '../../src/index.js';
import { webSocketTransport } from '../../src/ws/index.js';
import { post } from '../sandbox/client.js';
import { assetOf, commandsOf, createAsset, submitPath, withParties } from '../sandbox/commands.js';

const profiles = ['3.3', '3.4', '3.5', '3.6', '3.7'] as const;
const cases = profiles.flatMap((profile) => [
  { profile, by: 'HTTP', transport: 'http' } as const,
  { profile, by: 'WebSocket', transport: webSocketTransport() },
]);

describe.each(cases)('completions of a $profile sandbox by $by', ({ profile, transport }) => {
  it('are those of the user, each once and in order, and new ones as they are written', async () => {
    const { sandbox, alice } = await withParties({ profile });
    // the first path is not served; 3.4 has no other
    const body = JSON.stringify({ errors: [], status: 404, ledgerApiError: null });
    if (profile >= '3.5') sandbox.fault({ kind: 'status', status: 404, body }, { path: '/v2/commands/completions' });
    let count = 0;
    const submit = (userId: string): Promise<unknown> => {
      count += 1;
      return assetOf(sandbox, alice, { userId, commandId: `cmd-${count}` });
    };
    for (let n = 0; n < 30; n += 1) await submit(n % 3 === 0 ? 'app' : 'other');
    const completions$ = createLedger({ baseUrl: sandbox.url }).completions(
      { parties: [alice], userId: 'app', beginExclusive: 4 },
      { transport, maxPageSize: 7, idleTimeoutMs: 200 },
    );
    const seen = await lastValueFrom(
      completions$.pipe(
        filter(({ _tag }) => _tag === 'Completion'),
        map(({ offset }) => offset),
        tap((offset) => {
          if (offset >= 28 && count < 36) void submit('other').then(() => submit('app'));
        }),
        take(11),
        toArray(),
      ),
    );
    expect(seen).toEqual([7, 10, 13, 16, 19, 22, 25, 28, 32, 34, 36]);
    const paths = sandbox.requests.map(({ path }) => path).filter((path) => path.endsWith('command-completions'));
    expect(paths.length > 0).toBe(profile >= '3.5');
  });
});

describe('ofChange', () => {
  it('finds a rejection, and then the transaction, of a command', async () => {
    const { sandbox, alice } = await withParties();
    const body = commandsOf(alice, createAsset(alice));
    sandbox.fault({ kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' }, { path: submitPath });
    await post(sandbox, submitPath, body);
    await post(sandbox, submitPath, body);
    const { commandId, userId } = body as { commandId: string; userId: string };
    const completions$ = createLedger({ baseUrl: sandbox.url }).completions({
      parties: [alice],
      userId,
      beginExclusive: 0,
    });
    const found = await firstValueFrom(
      completions$.pipe(ofChange({ commandId, userId, actAs: [alice] }), take(2), toArray()),
    );
    expect(found).toMatchObject([
      { outcome: 'rejected', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS', errorCategory: 2 },
      { outcome: 'committed', offset: 2 },
    ]);
  });
});
