import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { faultProxy, type FaultProxy, type ProxyFault } from './faultProxy.js';
import { Readers } from './readers.js';
import { connect, Contracts, url } from './writing.js';

/** How long a fault lasts, in milliseconds. */
const faultMs = 1_500;

/** Defines a test for each fault: readers behind a proxy go on after it, and are exact. */
export function testFaults(faults: readonly (readonly [string, ProxyFault])[]): void {
  let proxy: FaultProxy;
  const contracts = new Contracts();
  beforeEach(async () => {
    proxy = await faultProxy(url);
  });
  afterEach(() => proxy.close());
  afterAll(() => contracts.archiveAll());

  it.each(faults)(
    'is read exactly through a proxy that answers with %s for a while',
    async (_, fault) => {
      const begin = await firstValueFrom(connect().ledgerEnd());
      const readers = new Readers(connect({ baseUrl: proxy.url }), begin);
      await readers.live();
      const first = await contracts.create();
      for (let outage = 0; outage < 2; outage += 1) {
        proxy.fail(() => fault);
        await contracts.create();
        await sleep(faultMs);
        proxy.fail(() => undefined);
        await contracts.create();
      }
      await contracts.archive(first);
      await readers.compare(await firstValueFrom(connect().ledgerEnd()));
      readers.close();
    },
    240_000,
  );
}
