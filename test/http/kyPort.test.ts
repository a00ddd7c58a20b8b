import { describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { kyPort } from '../../src/http/kyPort.js';
import { failureOf, portContract, post, secret } from './portContract.js';

const url = 'http://ledger.example';

describe('kyPort', () => {
  portContract(kyPort);

  it('reads the response of a fetch without streams', async () => {
    const response = new Response('[1]');
    Object.defineProperty(response, 'body', { value: undefined });
    const fetch = (): Promise<Response> => Promise.resolve(response);
    expect(await firstValueFrom(kyPort({ fetch })(post(url)))).toMatchObject({ text: '[1]' });
  });

  it('reads a response without a body', async () => {
    const fetch = (): Promise<Response> => Promise.resolve(new Response(null, { status: 204 }));
    expect(await firstValueFrom(kyPort({ fetch })(post(url)))).toMatchObject({ text: '' });
  });

  it('ignores a code that does not look like a system error', async () => {
    const fetch = (): Promise<Response> => Promise.reject(Object.assign(new Error('x'), { code: secret }));
    expect(await failureOf(kyPort({ fetch })(post(url)))).toMatchObject({
      _tag: 'ConnectionError',
      code: undefined,
    });
  });

  it('uses the fetch of its options', async () => {
    const seen: string[] = [];
    const fetch: typeof globalThis.fetch = (input) => {
      seen.push(input instanceof Request ? input.url : 'not a request');
      return Promise.resolve(new Response('[]'));
    };
    await firstValueFrom(kyPort({ fetch })(post(`${url}/a`)));
    expect(seen).toEqual([`${url}/a`]);
  });

  it('calls the fetch of its options once, also if its response is of another class', async () => {
    let calls = 0;
    const other = {
      status: 200,
      ok: true,
      headers: new Headers(),
      body: undefined,
      text: () => Promise.resolve('[2]'),
    };
    const fetch = (): Promise<Response> => {
      calls += 1;
      return Promise.resolve(other as unknown as Response);
    };
    expect(await firstValueFrom(kyPort({ fetch })(post(url)))).toMatchObject({ status: 200, text: '[2]' });
    expect(calls).toBe(1);
  });
});
