import { describe, expect, it } from '@jest/globals';
import { useProcessTime } from '../../helpers/time.js';
import { capture, runCli } from '../runCli.js';
import { runCheck, sandboxWith, serveHttp } from './runCheck.js';

describe('canton-rx check', () => {
  it('reports the state of a healthy ledger', async () => {
    useProcessTime();
    const sandbox = await sandboxWith();
    const { code, finding, ids } = await runCheck(sandbox.url);

    expect(code).toBe(0);
    expect(ids).toStrictEqual([
      'reachable',
      'version',
      'token',
      'clock',
      'roundTrip',
      'participant',
      'ledgerEnd',
      'pruned',
      'synchronizers',
      'updates',
      'pageLimit',
      'submission',
      'endpoints',
      'webSocket',
    ]);
    expect(finding('version')).toMatchObject({ state: 'ok', text: '3.5.19' });
    expect(finding('token')).toMatchObject({ state: 'ok', data: { isGiven: false, isNeeded: false } });
    expect(finding('clock')).toMatchObject({ state: 'ok' });
    expect(finding('roundTrip')?.text).toMatch(/^[\d.]+ ms, median of 9 from [\d.]+ to [\d.]+ ms$/);
    expect(finding('ledgerEnd')?.data).toStrictEqual({ offset: sandbox.ledgerEnd });
    expect(finding('pruned')?.data).toStrictEqual({ upToInclusive: 0 });
    expect(new Set(finding('synchronizers')?.data?.['ids'] as string[])).toStrictEqual(new Set(sandbox.synchronizers));
    expect(finding('pageLimit')).toMatchObject({ state: 'ok', data: { limit: 200 } });
    expect(finding('submission')).toMatchObject({ state: 'ok' });
    expect(finding('endpoints')?.data).toMatchObject({
      '/v2/updates/update-by-id': true,
      '/v2/updates/update-by-hash': false,
    });
  });

  it('does not change the ledger, and sends fewer than 40 requests', async () => {
    const sandbox = await sandboxWith();
    const before = sandbox.ledgerEnd;
    await runCheck(sandbox.url);

    expect(sandbox.ledgerEnd).toBe(before);
    expect(sandbox.requests.length).toBeLessThan(40);
    expect(sandbox.requests.filter(({ method, path }) => method === 'POST' && !path.startsWith('/v2/updates'))).toEqual(
      [],
    );
  });

  it('reports the other findings if one check fails', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 500, body: 'boom' }, { path: '/v2/version' });
    const { code, finding } = await runCheck(sandbox.url);

    expect(code).toBe(1);
    expect(finding('version')).toMatchObject({ state: 'failed', text: 'the server answered 500' });
    expect(finding('updates')?.state).toBe('ok');
  });

  it('takes less than 15 seconds if only the first requests are answered', async () => {
    useProcessTime(4);
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'hang' }, { path: /./, after: 3, times: 200 });
    const startedAt = performance.now();
    const { finding, code } = await runCheck(sandbox.url);

    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(code).toBe(3);
    expect([finding('version')?.state, finding('ledgerEnd')?.state, finding('updates')?.state]).toStrictEqual([
      'ok',
      'ok',
      'failed',
    ]);
  });

  it('escapes control characters of the service in the report', async () => {
    const url = await serveHttp((request, response) => {
      const evil = '\u001b[2J\u009b31m\u202e\nno problems';
      const body = request.url === '/v2/version' ? { version: evil } : { participantId: `${evil}::1`, offset: 3 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const { code, out } = runCli(['check', '--ledger', url], {
      out: capture({ isTTY: true }),
      env: { NO_COLOR: '1' },
    });
    await code;

    expect(out.text()).toContain('\\u{1b}[2J\\u{9b}31m\\u{202e}\\u{a}no problems');
    expect(out.text()).not.toMatch(/[^\P{C}\n]/u);
    expect(out.text()).not.toMatch(/^no problems/m);
  });
});
