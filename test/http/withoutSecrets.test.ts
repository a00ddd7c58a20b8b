import { describe, expect, it } from '@jest/globals';
import type { HttpRequest } from '../../src/http/HttpPort.js';
import { withoutSecrets } from '../../src/http/withoutSecrets.js';

const request: HttpRequest = {
  method: 'POST',
  url: 'http://ledger.example/x',
  headers: {
    'content-type': 'application/json',
    authorization: 'Bearer t0ken',
    'x-api-key': 'key-of-the-gateway',
    'x-version': '1',
  },
  body: JSON.stringify({
    preparedTransaction: 'cHJlcGFyZWQ=',
    partySignatures: { signatures: [{ party: 'alice::1220ab', signatures: [{ signature: 'c2lnbmVk', format: 'F' }] }] },
  }),
};

describe('an answer that shows what was sent', () => {
  it('loses the token, the headers of the caller, the signatures and what was signed; and nothing else', () => {
    const { headers, body } = request;
    const text = withoutSecrets(`400 ${JSON.stringify(headers)} ${body ?? ''} of alice::1220ab, 1`, request);
    for (const secret of ['t0ken', 'key-of-the-gateway', 'cHJlcGFyZWQ=', 'c2lnbmVk'])
      expect(text).not.toContain(secret);
    expect(text).toContain('application/json');
    expect(text).toContain('of alice::1220ab, 1');
    expect(text).toContain('"x-version":"1"');
  });

  it('is left alone where nothing secret was sent', () => {
    expect(withoutSecrets('as it is', { method: 'GET', url: 'http://ledger.example/x', headers: {} })).toBe('as it is');
  });
});
