import { describe, expect, it } from '@jest/globals';
import { secretsOf } from '../../src/http/exchange.js';

const request = { method: 'POST', url: 'http://ledger.example/x' } as const;

describe('the secrets of a request', () => {
  it('are the token, the headers of the caller, the signatures and what was signed; and nothing else', () => {
    const headers = {
      'content-type': 'application/json',
      authorization: 'Bearer t0ken',
      'x-api-key': 'key-of-the-gateway',
      'x-version': '1',
    };
    const body = JSON.stringify({
      preparedTransaction: 'cHJlcGFyZWQ=',
      partySignatures: {
        signatures: [{ party: 'alice::1220ab', signatures: [{ signature: 'c2lnbmVk', format: 'F' }] }],
      },
    });
    expect(secretsOf({ ...request, headers, body })).toEqual([
      't0ken',
      'key-of-the-gateway',
      'cHJlcGFyZWQ=',
      'c2lnbmVk',
    ]);
  });

  it.each([
    ['Basic dXNlcg', 'dXNlcg'],
    ['a-key', 'a-key'],
  ])('have no name of a scheme in them: %s', (authorization, secret) => {
    expect(secretsOf({ ...request, headers: { authorization } })).toEqual([secret]);
  });

  it('are none where none was sent', () => {
    expect(secretsOf({ ...request, headers: {} })).toEqual([]);
  });
});
