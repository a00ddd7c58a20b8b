import { lastValueFrom, take, toArray } from 'rxjs';
import { ledgerEffects } from '../../src/codecs/formats.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { ofVariant } from '../../src/operators/ofVariant.js';

/** What was seen in the browser. */
export interface SeenInBrowser {
  readonly offsets: readonly number[];
  /** What was told of the feed. */
  readonly tags: readonly string[];
}

/** Runs in a page: a feed by the platform's own WebSocket, until it has seen some updates come. */
async function run(): Promise<SeenInBrowser> {
  const given = new URLSearchParams(location.hash.slice(1));
  const ledger = createLedger({ baseUrl: given.get('url') ?? '', token: given.get('token') ?? '' });
  const tags: string[] = [];
  ledger.diagnostics$.subscribe(({ _tag }) => tags.push(_tag));
  const request = { beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) };
  const updates$ = ledger.updates(request, { transport: 'websocket' });
  const updates = await lastValueFrom(
    updates$.pipe(ofVariant('Transaction', 'Reassignment', 'TopologyTransaction'), take(30), toArray()),
  );
  return { offsets: updates.map(({ offset }) => offset), tags };
}

Object.assign(globalThis, { seen: run() });
