import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { filter, firstValueFrom } from 'rxjs';
import { liveContracts } from '../../../../src/contracts/index.js';
import { acsDelta } from '../../../../src/index.js';
import type { Load, Outcome } from '../Load.js';
import { origin } from '../ledgerText.js';
import { ledgerOf } from './feed.js';

const maxPageSize = 500;

/** Reads a snapshot page by page with fetch and JSON.parse, and keeps what it has read. */
export const bareContracts = (load: Load): Promise<Outcome> =>
  measured(load, async ({ url, count, step }) => {
    const { includeReassignments: eventFormat } = acsDelta({ parties: 'any' });
    const pages: unknown[] = [];
    let pageToken: string | null | undefined;
    while (pageToken !== null) {
      const response = await fetch(`${url}/v2/state/active-contracts-page`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ activeAtOffset: origin + count * step, eventFormat, maxPageSize, pageToken }),
      });
      const page = JSON.parse(await response.text()) as { nextPageToken: string | null };
      pages.push(page);
      pageToken = page.nextPageToken;
    }
    return pages;
  });

/** The library's live view, from its subscription until it is live. */
export const liveContractsFromStart = (load: Load): Promise<Outcome> =>
  measured(load, async ({ count }) => {
    const view = liveContracts(await ledgerOf(load), { parties: 'any' });
    const { contracts } = await firstValueFrom(view.state$.pipe(filter((state) => state.data === 'live')));
    if (contracts.size !== count) throw new Error(`${contracts.size} of ${count} contracts`);
    return contracts;
  });

/** Measures the time, the longest time for which the event loop was blocked, and the memory of the result. */
async function measured(load: Load, read: (load: Load) => Promise<unknown>): Promise<Outcome> {
  const heapBefore = heap();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  const result = await read(load);
  const tookMs = performance.now() - startedAt;
  delay.disable();
  const heapBytes = heap() - heapBefore;
  // read after the measurement, so that the result is still there
  if (result === undefined) throw new Error('nothing was read');
  return {
    cost: (tookMs * 1_000) / load.count,
    figures: { blockedMs: delay.max / 1e6, heapBytes: heapBytes / load.count },
  };
}

function heap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
