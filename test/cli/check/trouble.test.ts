import { describe, expect, it } from '@jest/globals';
import { troubleOfError } from '../../../src/cli/check/Probe.js';
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
