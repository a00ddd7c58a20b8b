import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { faultProxy, type FaultProxy } from './faultProxy.js';
import { Readers } from './readers.js';
import { connect, Contracts, isWriting, token, url } from './writing.js';

const refusal = { status: 401, body: '{"code":"NA","cause":"An error occurred","errorCategory":-1,"context":{}}' };

(isWriting ? describe : describe.skip)('a token that a participant has accepted', () => {
  let proxy: FaultProxy;
  const contracts = new Contracts();
  beforeEach(async () => {
    proxy = await faultProxy(url, token);
  });
  afterEach(() => proxy.close());
  afterAll(() => contracts.archiveAll());

  it('is tried again after a refusal that passes, if it was accepted before', async () => {
    const ledger = connect({ baseUrl: proxy.url, token: () => 'cached' });
    const readers = new Readers(ledger, await firstValueFrom(connect().ledgerEnd()));
    await readers.live();
    proxy.fail(() => refusal);
    await contracts.create();
    await sleep(2_000);
    proxy.fail(() => undefined);
    await readers.compare(await firstValueFrom(connect().ledgerEnd()));
    readers.close();
  }, 240_000);
});
