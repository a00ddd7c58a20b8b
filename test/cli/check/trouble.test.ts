import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import { type Probe, troubleOfError, troubleOfResponse } from '../../../src/cli/check/Probe.js';
import { checkEncryption, checkProxy } from '../../../src/cli/check/connection.js';
import { ConnectionError, RequestTimeoutError } from '../../../src/errors/request.js';

const failure = (code: string): ConnectionError => new ConnectionError('/v2/version', 'the connection failed', code);
const late = new RequestTimeoutError('/v2/version', 3_500);

describe('troubleOfError', () => {
  it.each([
    ['an unknown host', failure('ENOTFOUND'), true, 'unreachable', 'the host name does not resolve'],
    ['no connection in time', late, false, 'unreachable', 'no connection in time'],
    ['no response in time', late, true, 'unreachable', 'connected, but no response in time'],
    ['an expired certificate', failure('CERT_HAS_EXPIRED'), true, 'unreachable', 'the certificate has expired'],
    ['no TLS', failure('ERR_SSL_WRONG_VERSION_NUMBER'), true, 'unreachable', 'the server does not speak TLS'],
    ['no HTTP', failure('HPE_INVALID_CONSTANT'), true, 'foreign', 'the server does not speak HTTP/1.1'],
    ['an unknown code', failure('ESOMETHING'), true, 'unreachable', 'the connection failed (ESOMETHING)'],
    [
      'no code, as at a port that fetch refuses',
      new ConnectionError('/v2/version', 'the connection failed'),
      true,
      'unreachable',
      'the connection failed',
    ],
  ])('explains %s', (_, error, isConnected, kind, text) => {
    expect(troubleOfError(error, isConnected)).toMatchObject({ kind, text });
  });

  it('reports a bug of the check as such', () => {
    expect(troubleOfError(new TypeError('x is not a function'))).toMatchObject({ kind: 'other' });
  });
});

describe('troubleOfResponse', () => {
  const html = { headers: { 'content-type': 'text/html' }, text: '<html>no</html>' };
  it.each([
    [502, 'unreachable', /gateway/],
    [503, 'unreachable', /gateway/],
    [504, 'unreachable', /gateway/],
    [429, 'unreachable', /rate of requests/],
    [407, 'unreachable', /proxy requires credentials/],
    [200, 'foreign', /HTML page/],
    [404, 'foreign', /HTML page/],
  ])('goes by the status first, and then by the page: %d', (status, kind, text) => {
    expect(troubleOfResponse({ ...html, status })).toMatchObject({ kind, text: expect.stringMatching(text) });
  });
});

describe('the environment of a check', () => {
  const connection = { ledger: 'https://ledger.example', token: undefined };
  const probeIn = (env: Readonly<Record<string, string>>): Probe => ({
    connection,
    parties: 'any',
    env,
  });

  it('is marked if certificates are not verified', () => {
    expect(checkEncryption(probeIn({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }))).toMatchObject([{ state: 'warned' }]);
    expect(checkEncryption(probeIn({}))).toEqual([]);
  });

  it('has a proxy that Node.js uses only if it is told to', () => {
    const isSupported = Number(process.versions.node.split('.')[0]) >= 24;
    const proxy = { HTTPS_PROXY: 'http://user:hush@proxy.example' };
    expect(checkProxy(probeIn(proxy))).toMatchObject([{ state: 'open', text: expect.stringContaining('HTTPS_PROXY') }]);
    expect(checkProxy(probeIn({ ...proxy, NODE_USE_ENV_PROXY: '1' }))).toMatchObject([
      { state: isSupported ? 'ok' : 'open' },
    ]);
    expect(checkProxy(probeIn({ ...proxy, NO_PROXY: 'localhost, .example' }))).toEqual([]);
    expect(JSON.stringify(checkProxy(probeIn(proxy)))).not.toContain('hush');
  });
});
