import { lastValueFrom, take, toArray } from 'rxjs';
import { ledgerEffects } from '../../src/codecs/UpdateFormat.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { ofVariant } from '../../src/operators/ofVariant.js';
import { webSocketTransport } from '../../src/ws/browser.js';

/** The result of the page. */
export interface PageResult {
  readonly offsets: readonly number[];
  /** The tags of the diagnostics. */
  readonly tags: readonly string[];
}

/** Reads 30 updates by the browser's own WebSocket. */
async function run(): Promise<PageResult> {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const [baseUrl, token] = [parameters.get('url') ?? '', parameters.get('token') ?? ''];
  const ledger = createLedger({ baseUrl, token, transport: webSocketTransport() });
  const tags: string[] = [];
  ledger.diagnostics$.subscribe(({ _tag }) => tags.push(_tag));
  const request = { beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) };
  const updates = await lastValueFrom(
    ledger.updates(request).pipe(ofVariant('Transaction', 'Reassignment', 'TopologyTransaction'), take(30), toArray()),
  );
  return { offsets: updates.map(({ offset }) => offset), tags };
}

Object.assign(globalThis, { seen: run() });
