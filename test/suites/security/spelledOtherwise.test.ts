import { describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import type { HttpPort } from '../../../src/http/HttpPort.js';
import { canton } from '../../helpers/scripted.js';
import { asked } from './asked.js';
import { sent } from './secrets.js';
import { secretsIn } from './secretsIn.js';

/** A ledger that quotes a text in its error, as its JSON library spells it. */
const quoting =
  (text: string, spelled: (json: string) => string = (json) => json): HttpPort =>
  () =>
    of({
      status: 400,
      headers: {},
      text: spelled(JSON.stringify({ ...canton('INVALID_ARGUMENT', 8, { quoted: text }), cause: text })),
    });

const baseUrl = 'http://ledger.example';
const escaped = (json: string): string => json.replaceAll('S', '\\u0053').replaceAll('/', '\\/');

describe('a secret that the service spells otherwise', () => {
  it('is found behind the escapes of JSON', async () => {
    const { errors } = await asked({ baseUrl, port: quoting(sent.token, escaped) });
    expect(secretsIn(errors, [sent.token])).toEqual([]);
  });

  it('is found where it has itself what JSON escapes', async () => {
    const token = 'a"token\\with-quotes';
    const { errors } = await asked({ baseUrl, token, port: quoting(`not ${token}`) });
    expect(errors.filter((error) => String(error).includes(token))).toEqual([]);
  });

  it('is found without the name of its scheme', async () => {
    const password = 'dXNlcjpwYXNzd29yZA';
    const headers = { authorization: `Basic ${password}` };
    const { errors } = await asked({ baseUrl, headers, port: quoting(`unknown user ${password}`) });
    expect(secretsIn(errors, [password])).toEqual([]);
  });

  it('does not cost the error its code and category', async () => {
    const headers = { 'x-accept': 'errorCategory' };
    const { errors } = await asked({ baseUrl, headers, port: quoting('x') });
    expect(errors[0]).toMatchObject({ code: 'INVALID_ARGUMENT', errorCategory: 8 });
  });
});
