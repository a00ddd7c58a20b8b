import { describe, expect, it } from '@jest/globals';
import { createReport, formatReport } from '../../../src/cli/check/check.js';
import { cantonError } from '../../../src/sandbox/index.js';
import { capture, runCli } from '../runCli.js';
import { runCheck, sandboxWith, serveHttp } from './runCheck.js';

describe('canton-rx check', () => {
  it('reports the state of a healthy ledger by fewer than 40 requests, which do not change it', async () => {
    const sandbox = await sandboxWith();
    const before = sandbox.ledgerEnd;
    const { code, finding, ids } = await runCheck(sandbox.url);

    expect(code).toBe(0);
    expect(ids.join(' ')).toBe(
      'reachable version token clock roundTrip participant ledgerEnd pruned synchronizers updates pageLimit submission endpoints webSocket',
    );
    expect(finding('version')).toMatchObject({ state: 'ok', text: '3.5.19' });
    expect(finding('token')).toMatchObject({ state: 'ok', data: { isGiven: false, isNeeded: false } });
    expect(finding('clock')).toMatchObject({ state: 'ok' });
    expect(finding('roundTrip')?.text).toMatch(/^[\d.]+ ms, median of 9 from [\d.]+ to [\d.]+ ms$/);
    expect(finding('ledgerEnd')?.data).toStrictEqual({ offset: sandbox.ledgerEnd });
    expect(finding('pruned')?.data).toStrictEqual({ upToInclusive: 0 });
    expect(new Set(finding('synchronizers')?.data?.['ids'] as string[])).toStrictEqual(new Set(sandbox.synchronizers));
    expect(finding('pageLimit')).toMatchObject({ state: 'ok', data: { limit: 200 } });
    expect(finding('submission')).toMatchObject({ state: 'ok' });
    const served = { '/v2/updates/update-by-id': true, '/v2/updates/update-by-hash': false };
    expect(finding('endpoints')?.data).toMatchObject(served);
    expect(sandbox.ledgerEnd).toBe(before);
    expect(sandbox.requests.length).toBeLessThan(40);
    const posted = sandbox.requests.filter(({ method, path }) => method === 'POST' && !path.startsWith('/v2/updates'));
    // their bodies are not JSON
    expect(posted.filter(({ status }) => status !== 400)).toEqual([]);
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
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'hang' }, { path: /./, after: 3, times: 200 });
    const startedAt = performance.now();
    const { finding, code } = await runCheck(sandbox.url);

    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(code).toBe(3);
    const states = ['version', 'ledgerEnd', 'updates'].map((id) => finding(id)?.state);
    expect(states).toStrictEqual(['ok', 'ok', 'failed']);
  });

  it.each([
    [
      'the path of a 3.6, which has disabled the old one',
      { profile: '3.6' },
      600,
      'updates',
      /^at \/v2\/updates; .* is disabled$/,
    ],
    ['that the limit of an empty ledger is unknown', {}, 0, 'pageLimit', /^unknown: the ledger is empty$/],
    [
      'a limit below the usual one',
      { maxListElements: 50 },
      600,
      'pageLimit',
      /^50 updates per response: feeds adapt to it$/,
    ],
    [
      'how much it received below a large limit',
      { maxListElements: 5_000 },
      600,
      'pageLimit',
      /^(at least 2\d\d|unknown: the last)/,
    ],
  ] as const)('finds %s', async (_, options, updates, id, text) => {
    const { code, finding } = await runCheck((await sandboxWith(options, updates)).url);

    expect(code).toBe(0);
    expect(finding(id)?.text).toMatch(text);
  });

  it('accepts a service that has nothing but the two operations', async () => {
    const { code, finding } = await runCheck((await sandboxWith({ interfaceOnly: true })).url);

    expect(code).toBe(0);
    for (const id of ['version', 'ledgerEnd', 'token']) expect(finding(id)?.state).toBe('open');
    expect(finding('updates')?.data).toStrictEqual({ '/v2/updates/flats': true, '/v2/updates': false });
  });

  it('reports that the ledger is pruned', async () => {
    const sandbox = await sandboxWith();
    sandbox.prune(sandbox.ledgerEnd - 10);
    const { code, finding } = await runCheck(sandbox.url);

    expect(code).toBe(0);
    expect(finding('pruned')?.data).toStrictEqual({ upToInclusive: sandbox.ledgerEnd - 10 });
    expect(finding('pageLimit')?.state).toBe('open');
  });

  it('fails with a wrong path prefix', async () => {
    const { code, finding } = await runCheck(`${(await sandboxWith()).url}/v2`);

    expect(code).toBe(4);
    expect(finding('updates')).toMatchObject({
      state: 'failed',
      text: 'not served at /v2/updates/flats or /v2/updates (404)',
      next: 'check the path prefix of --ledger: it ends before /v2',
    });
  });

  it('names a party that the participant does not know', async () => {
    const sandbox = await sandboxWith();
    const unknown = await runCheck(sandbox.url, {}, ['--party', 'alicce::1220aa']);
    const known = await runCheck(sandbox.url, {}, ['--party', sandbox.parties[0] ?? '']);

    expect(unknown.code).toBe(1);
    expect(unknown.finding('party')).toMatchObject({
      state: 'failed',
      text: 'the participant does not know alicce::1220aa…',
      next: 'check the spelling of --party',
    });
    expect({ code: known.code, party: known.finding('party') }).toStrictEqual({ code: 0, party: undefined });
  });

  it('has nothing against a party that the participant lists, and hosts on no synchronizer', async () => {
    const sandbox = await sandboxWith();
    const known = (answer: unknown): string =>
      JSON.stringify(answer).replaceAll(/"party":"alice::/g, '"party":"carol::');
    sandbox.fault({ kind: 'rewrite', body: known }, { path: /parties$/ });
    const carol = (sandbox.parties[0] ?? '').replace('alice', 'carol');
    const { code, finding } = await runCheck(sandbox.url, {}, ['--party', carol]);

    expect(carol).toMatch(/^carol::/);
    expect({ code, party: finding('party') }).toStrictEqual({ code: 0, party: undefined });
  });
});

describe('the report', () => {
  it('has a line with a mark, a name and a text for each finding, and the next step below it', async () => {
    const sandbox = await sandboxWith();
    const denied = { kind: 'status', status: 403, body: cantonError('PERMISSION_DENIED') } as const;
    // at both paths, and for the WebSocket
    sandbox.fault(denied, { path: /updates(?:\/flats)?$/, times: 3 });
    const { code, out } = runCli(['check', '--ledger', sandbox.url]);

    expect(await code).toBe(5);
    expect(out.text()).toMatch(
      /^canton-rx \d+\.\d+\.\d+, Node\.js [\d.]+, \w+ \w+, [\dT:.-]+Z\nledger: http, port \d+, this machine\n\n/,
    );
    expect(out.text()).toMatch(/^✓ version {8}3\.5\.19$/m);
    expect(out.text()).toMatch(/^✗ updates {8}the user of the token .*\n {17}→ choose a party with --party PARTY$/m);
    expect(out.text()).toMatch(/^[✓–] WebSocket {6}/m);
    expect(out.text()).toMatch(/\n1 of 14 checks failed \(exit code 5\)\n$/);
  });

  it('names a required token once', async () => {
    const sandbox = await sandboxWith({ checkToken: (given) => given === 'right' });
    const { code, out } = runCli(['check', '--ledger', sandbox.url]);

    expect(await code).toBe(5);
    expect(out.text().match(/\(401\)/g)).toHaveLength(1);
    expect(out.text()).toMatch(
      /^✗ token {8}a token is required \(401\)\n +→ give one with --token-file FILE or CANTON_RX_LEDGER_TOKEN$/m,
    );
    expect(out.text()).toMatch(
      /^– not checked {2}participant, ledger end, pruned, synchronizers, updates, page\n +limit: they require an accepted token$/m,
    );
    expect(out.text()).not.toContain('unknown without');
  });

  it('does not contain the host', async () => {
    const { code, out } = runCli(['check', '--ledger', 'http://corp-ledger.invalid/prefix']);

    expect(await code).toBe(3);
    expect(out.text()).toContain('ledger: http, port 80, another host, with a path prefix');
    expect(out.text()).not.toContain('corp');
  });

  it('counts a warning, which is not a failure', () => {
    const finding = { id: 'encryption', label: 'encryption', state: 'warned', text: 'plain', next: 'do' } as const;
    const report = createReport('http://corp-ledger.invalid', [finding]);

    expect(report.exitCode).toBe(0);
    expect(formatReport(report, 80, (_, text) => text)).toMatch(
      /\n! encryption {2}plain\n {14}→ do\n\nno failures, 1 warning\n$/,
    );
  });

  it('escapes control characters of the service', async () => {
    const url = await serveHttp((request, response) => {
      const evil = '\u001b[2J\u009b31m\u202e\nno problems';
      const body = request.url === '/v2/version' ? { version: evil } : { participantId: `${evil}::1`, offset: 3 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const { code, out } = runCli(['check', '--ledger', url], { out: capture({ isTTY: true }), env: { NO_COLOR: '1' } });
    await code;

    expect(out.text()).toContain('\\u{1b}[2J\\u{9b}31m\\u{202e}\\u{a}no problems');
    expect(out.text()).not.toMatch(/[^\P{C}\n]/u);
    expect(out.text()).not.toMatch(/^no problems/m);
  });
});
