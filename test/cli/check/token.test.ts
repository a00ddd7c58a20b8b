import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { checkToken } from '../../../src/cli/check/access.js';
import type { SandboxOptions } from '../../../src/sandbox/index.js';
import { until } from '../../helpers/time.js';
import { runCli } from '../runCli.js';
import { afterTest, jwt, nowSeconds, runCheck, sandboxWith, serveHttp } from './runCheck.js';

const acceptOnly = (accepted: string): SandboxOptions => ({ checkToken: (token) => token === accepted });

describe('the check of the token', () => {
  it('reports the expiry of an accepted token, and nothing else of it', async () => {
    const token = jwt({ sub: 'somebody', aud: 'some-ledger', exp: nowSeconds() + 299 });
    const sandbox = await sandboxWith(acceptOnly(token));
    const { code, finding, printed } = await runCheck(sandbox.url, { CANTON_RX_LEDGER_TOKEN: token });

    expect(code).toBe(0);
    expect(finding('token')?.text).toMatch(/^accepted, expires in 4 min(?: \d+ s)?$/);
    expect(finding('token')?.data).toMatchObject({ isAccepted: true, isNeeded: true });
    for (const part of token.split('.')) expect(printed).not.toContain(part);
    expect(printed).not.toContain('somebody');
    expect(printed).not.toContain('some-ledger');
  });

  it.each([
    ['no audience', {}],
    ['an empty audience', { aud: [] }],
  ])('warns of an accepted token with %s, which 3.7 refuses', async (_, claims) => {
    const token = jwt({ ...claims, scope: 'daml_ledger_api', exp: nowSeconds() + 299 });
    const sandbox = await sandboxWith({ ...acceptOnly(token), profile: '3.6' });
    const { code, finding } = await runCheck(sandbox.url, { CANTON_RX_LEDGER_TOKEN: token });

    expect(code).toBe(0);
    expect(finding('token')).toMatchObject({
      state: 'warned',
      text: expect.stringMatching(/^accepted, expires in 4 min(?: \d+ s)?, has no audience \(aud\)$/),
      next: 'participants from 3.7 on refuse such a token: get tokens with an audience before the upgrade',
      data: { isAccepted: true, isNeeded: true },
    });
  });

  it('reports that the participant accepts requests without a token', async () => {
    const { finding } = await runCheck((await sandboxWith()).url, { CANTON_RX_LEDGER_TOKEN: jwt({}) });

    expect(finding('token')?.text).toBe(
      'not needed: the participant accepts requests without a token, has no expiry time',
    );
  });

  it('fails with an exit code of its own if the token is refused', async () => {
    const sandbox = await sandboxWith(acceptOnly('another'));
    const { code, finding, printed } = await runCheck(sandbox.url, {
      CANTON_RX_LEDGER_TOKEN: jwt({ exp: nowSeconds() - 185 }),
    });

    expect(code).toBe(5);
    expect(finding('version')?.state).toBe('ok');
    // without the token, so that the version is reported whatever the token is
    expect(sandbox.requests.find(({ path }) => path === '/v2/version')?.authorized).toBe(false);
    expect(finding('updates')?.state).toBe('open');
    expect(finding('token')).toMatchObject({ state: 'failed', text: 'token refused (401)' });
    expect(finding('token')?.next).toMatch(/^it expired 3 min \d+ s ago: get a new one$/);
    expect(printed).not.toContain('czNjcmV0');
  });

  it.each([
    ['a token', { CANTON_RX_LEDGER_TOKEN: 'opaque' }],
    ['no token', {}],
  ])('reports once that a gateway answers 401 to every request with %s', async (_, env) => {
    const url = await serveHttp((__, response) => {
      response.writeHead(401, { 'content-type': 'text/plain' }).end('Unauthorized');
    });
    const { code, printed, finding } = await runCheck(url, env);

    expect(code).toBe(5);
    expect(printed.match(/"state":"failed"/g)).toHaveLength(1);
    expect(printed.match(/\(401\)/g)).toHaveLength(1);
    expect(finding('token')?.state).toBe('failed');
  });

  it('reports that the token file was removed meanwhile', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
    afterTest(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const file = join(folder, 'token');
    writeFileSync(file, 'good');
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'delay', ms: 500 }, { path: '/v2/state/ledger-end' });
    const { code, out } = runCli(['check', '--ledger', sandbox.url, '--token-file', file]);
    await until(() => sandbox.requests.length > 0);
    rmSync(file);

    expect(await code).toBe(5);
    expect(out.text()).toContain('the token file can no longer be read');
  });
});

describe('the advice about a refused token', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** The advice about a token that is refused 1100 seconds after 1970. */
  const adviceAbout = async (token: string, release: string): Promise<string | undefined> => {
    jest.spyOn(Date, 'now').mockReturnValue(1_100_000);
    const response = { status: 401, headers: {}, text: '', sentAt: 0, receivedAt: 0, tookMs: 0 };
    const version = { ...response, status: 200, text: JSON.stringify({ version: release }) };
    const connection = { ledger: 'http://ledger.example', token: () => token };
    const finding$ = checkToken(
      { connection, parties: 'any', env: {} },
      {
        version: { response: release === '' ? response : version },
        ledgerEnd: { response },
        prunedOffsets: { response },
        endOffset: undefined,
        prunedOffset: undefined,
      },
    );
    return (await lastValueFrom(finding$)).next;
  };

  const otherCauses =
    'check its audience or scope, its signature and its user; the log of the participant has the reason';
  const notJwt = 'it is not a JWT: check --token-file or CANTON_RX_LEDGER_TOKEN';

  const noAudience =
    'it has no audience (aud), which participants from 3.7 on require: get a token with the audience of this participant';

  it.each([
    ['expired', jwt({ exp: 1_000 }), '3.6.1', 'it expired 1 min 40 s ago: get a new one'],
    ['expired and has no audience', jwt({ exp: 1_000 }), '3.7.0', 'it expired 1 min 40 s ago: get a new one'],
    ['not yet valid', jwt({ nbf: 1_130 }), '3.6.1', 'it becomes valid in 30 s: check the clocks'],
    [
      'valid too long',
      jwt({ exp: 1_100 + 86_400 }),
      '3.6.1',
      'it is valid for 1 d: participants from 3.4 on accept at most 5 minutes by default',
    ],
    ['valid now', jwt({ exp: 1_200 }), '3.6.1', otherCauses],
    ['without times', jwt({}), '3.6.1', otherCauses],
    ['with times that are not numbers', jwt({ exp: 'tomorrow' }), '3.6.1', notJwt],
    ['opaque', 'opaque', '3.6.1', notJwt],
    ['not base64', 'a.%%%.c', '3.6.1', notJwt],
    ['without an audience', jwt({ exp: 1_200 }), '3.7.0', noAudience],
    ['without an audience, and valid too long', jwt({ exp: 1_100 + 86_400 }), '3.10.1-rc1', noAudience],
    ['with an empty audience', jwt({ aud: '' }), '4.0.0', noAudience],
    ['without an audience, of an unknown release', jwt({ exp: 1_200 }), '', noAudience],
    ['with an audience', jwt({ exp: 1_200, aud: 'ledger' }), '3.7.0', otherCauses],
    ['with two audiences', jwt({ aud: ['ledger', 'other'] }), '3.7.0', otherCauses],
  ])('covers a token that is %s', async (_, token, release, advice) => {
    expect(await adviceAbout(token, release)).toBe(advice);
  });
});
