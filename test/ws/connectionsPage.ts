import { contractType, create, createLedger } from '../../src/index.js';
import { liveContracts, shareContractsOf } from '../../src/contracts/index.js';
import { webSocketTransport } from '../../src/ws/browser.js';
import * as t from 'io-ts';
import { firstValueFrom, of, shareReplay, zip } from 'rxjs';

/** What a tab does: the address is that of the ledger. */
interface Tab {
  readonly url: string;
  readonly party: string;
  readonly views: number;
  /** Whether the views are read together. */
  readonly isTogether: boolean;
}

const { url, party, views, isTogether } = JSON.parse(decodeURIComponent(location.hash.slice(1))) as Tab;
const ledger = createLedger({ baseUrl: url, transport: webSocketTransport() });
const Asset = contractType(
  '#sandbox-assets:Main:Asset',
  t.type({ owner: t.string, amount: t.string, serial: t.string }),
);

const together = shareContractsOf(ledger, [Asset]);
const shown = Array.from({ length: views }, (_, index) => {
  // another query each, which sees the same
  const query = { types: { [`asset${index}`]: Asset }, parties: [party] };
  const view = isTogether ? together.view(query) : liveContracts(ledger, query);
  return view.all$().pipe(shareReplay({ bufferSize: 1, refCount: false }));
});
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
