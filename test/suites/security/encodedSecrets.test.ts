import { describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import type { HttpPort } from '../../../src/http/HttpPort.js';
import { callLedger, sent } from './secrets.js';
import { secretsIn } from './secretsIn.js';
import { errorBody } from '../../helpers/wire.js';

/** A port whose service quotes a text in its error, encoded by its JSON library. */
const quoting =
  (text: string, encode: (json: string) => string = (json) => json): HttpPort =>
  () =>
    of({
      status: 400,
      headers: {},
      text: encode(JSON.stringify({ ...errorBody('INVALID_ARGUMENT', 8, { quoted: text }), cause: text })),
    });

const baseUrl = 'http://ledger.example';
const escaped = (json: string): string => json.replaceAll('S', '\\u0053').replaceAll('/', '\\/');

describe('a secret that the service encodes in another way', () => {
  it('is removed where JSON escapes it', async () => {
    const { errors } = await callLedger({ baseUrl, port: quoting(sent.token, escaped) });
    expect(secretsIn(errors, [sent.token])).toEqual([]);
  });

  it('is removed where it contains characters that JSON escapes', async () => {
    const token = 'a"token\\with-quotes';
    const { errors } = await callLedger({ baseUrl, token, port: quoting(`not ${token}`) });
    expect(errors.filter((error) => String(error).includes(token))).toEqual([]);
  });

  it('is removed where it occurs without the name of its scheme', async () => {
    const password = 'dXNlcjpwYXNzd29yZA';
    const headers = { authorization: `Basic ${password}` };
    const { errors } = await callLedger({ baseUrl, headers, port: quoting(`unknown user ${password}`) });
    expect(secretsIn(errors, [password])).toEqual([]);
  });

  it('leaves the error its code and category, though it equals a key', async () => {
    const headers = { 'x-accept': 'errorCategory' };
    const { errors } = await callLedger({ baseUrl, headers, port: quoting('x') });
    expect(errors[0]).toMatchObject({ code: 'INVALID_ARGUMENT', errorCategory: 8 });
  });
});
