import { describe, expect, it } from '@jest/globals';
import { cantonError } from '../../../src/sandbox/index.js';
import { runCheck, sandboxWith } from './runCheck.js';

describe('the check of updates', () => {
  it('finds the path of a 3.6, which has disabled the old one', async () => {
    const { code, finding } = await runCheck((await sandboxWith({ profile: '3.6' })).url);

    expect(code).toBe(0);
    expect(finding('updates')?.text).toBe('at /v2/updates; /v2/updates/flats is disabled');
    expect(finding('pageLimit')?.data).toStrictEqual({ limit: 200 });
  });

  it('accepts a service that has nothing but the two operations', async () => {
    const { code, finding } = await runCheck((await sandboxWith({ interfaceOnly: true })).url);

    expect(code).toBe(0);
    expect([finding('version')?.state, finding('ledgerEnd')?.state, finding('token')?.state]).toStrictEqual([
      'open',
      'open',
      'open',
    ]);
    expect(finding('updates')?.data).toStrictEqual({ '/v2/updates/flats': true, '/v2/updates': false });
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

  it('suggests --party if the user may not read as any party', async () => {
    const sandbox = await sandboxWith();
    const denied = { kind: 'status', status: 403, body: cantonError('PERMISSION_DENIED') } as const;
    // at both paths, and for the WebSocket
    sandbox.fault(denied, { path: /updates(?:\/flats)?$/, times: 3 });
    const { code, finding } = await runCheck(sandbox.url);

    expect(code).toBe(5);
    expect(finding('updates')).toMatchObject({ state: 'failed', next: 'choose a party with --party PARTY' });
  });
});

describe('the check of offsets', () => {
  it('reports that the ledger is pruned', async () => {
    const sandbox = await sandboxWith();
    sandbox.prune(sandbox.ledgerEnd - 10);
    const { code, finding } = await runCheck(sandbox.url);

    expect(code).toBe(0);
    expect(finding('pruned')?.data).toStrictEqual({ upToInclusive: sandbox.ledgerEnd - 10 });
    expect(finding('pageLimit')?.state).toBe('open');
  });
});

describe('the check of the page limit', () => {
  it('reports that it is unknown on an empty ledger', async () => {
    const { code, finding } = await runCheck((await sandboxWith({}, 0)).url);

    expect(code).toBe(0);
    expect(finding('pageLimit')?.text).toBe('unknown: the ledger is empty');
  });

  it('reports a limit below the usual one', async () => {
    const { finding } = await runCheck((await sandboxWith({ maxListElements: 50 })).url);

    expect(finding('pageLimit')?.text).toBe('50 updates per response: feeds adapt to it');
  });

  it('reports how many updates it received if the limit is above that', async () => {
    const { finding } = await runCheck((await sandboxWith({ maxListElements: 5_000 })).url);

    expect(finding('pageLimit')?.text).toMatch(
      /^at least 2\d\d updates per response$|^unknown: the last 400 offsets have only/,
    );
  });
});
