import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { faultProxy, type FaultProxy } from './faultProxy.js';
import { Readers } from './readers.js';
import { connect, Contracts, expiredToken, isWriting, token, url } from './writing.js';

const refusal = { status: 401, body: '{"code":"NA","cause":"An error occurred","errorCategory":-1,"context":{}}' };

/** Whether the participant refuses a token. One without authentication accepts everything. */
async function isRefused(given: string): Promise<boolean> {
  const response = await fetch(`${url}/v2/state/ledger-end`, { headers: { authorization: `Bearer ${given}` } });
  return response.status === 401;
}

(isWriting ? describe : describe.skip)('the token for a participant', () => {
  let proxy: FaultProxy;
  const contracts = new Contracts();
  beforeEach(async () => {
    proxy = await faultProxy(url, token);
  });
  afterEach(() => proxy.close());
  afterAll(() => contracts.archiveAll());

  it.each([
    ['garbage', 'garbage'],
    ['expired', expiredToken ?? ''],
  ])('fails without retries if it is %s from the start', async (_, given) => {
    if (given === '' || !(await isRefused(given))) {
      console.warn('not tested: no such token is given, or the participant has no authentication');
      return;
    }
    const startedAt = performance.now();
    await expect(firstValueFrom(connect({ token: given }).ledgerEnd())).rejects.toMatchObject({
      _tag: 'UnauthorizedError',
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('is asked for again after a refusal, and nothing is lost', async () => {
    let asked = 0;
    const ledger = connect({ baseUrl: proxy.url, token: () => `token-${(asked += 1)}` });
    const readers = new Readers(ledger, await firstValueFrom(connect().ledgerEnd()));
    await readers.live();
    await contracts.create();
    let refusals = 0;
    // every third request, as if each token were good for two
    proxy.fail(() => ((refusals += 1) % 3 === 0 ? refusal : undefined));
    await contracts.create();
    await readers.compare(await firstValueFrom(connect().ledgerEnd()));
    expect(new Set(proxy.requests.map((request) => request.token)).size).toBe(proxy.requests.length);
    readers.close();
  }, 240_000);
});
