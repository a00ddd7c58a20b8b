import { contractType, create, createLedger } from '../../src/index.js';
import { liveContracts } from '../../src/contracts/index.js';
import { webSocketTransport } from '../../src/ws/browser.js';
import * as t from 'io-ts';
import { firstValueFrom, of, shareReplay, zip } from 'rxjs';

/** What a tab does: the address is that of the ledger. */
interface Tab {
  readonly url: string;
  readonly party: string;
  readonly views: number;
}

const { url, party, views } = JSON.parse(decodeURIComponent(location.hash.slice(1))) as Tab;
const ledger = createLedger({ baseUrl: url, transport: webSocketTransport() });
const Asset = contractType(
  '#sandbox-assets:Main:Asset',
  t.type({ owner: t.string, amount: t.string, serial: t.string }),
);

const shown = Array.from({ length: views }, () =>
  liveContracts(ledger, { types: { asset: Asset }, parties: [party] })
    .all$()
    .pipe(shareReplay({ bufferSize: 1, refCount: false })),
);
for (const all$ of shown) all$.subscribe();
await firstValueFrom(views === 0 ? of([]) : zip(shown));

/** Returns how long a submission takes, in milliseconds. */
const submit = async (serial: string): Promise<number> => {
  const begun = performance.now();
  const commands = [create(Asset, { ...{ tag: null }, owner: party, amount: '1.0', serial })];
  await firstValueFrom(ledger.submitAndWaitForTransaction({ userId: 'app', actAs: [party], commands }));
  return performance.now() - begun;
};
Object.assign(globalThis, { submit, ready: true });
