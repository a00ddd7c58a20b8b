import { lastValueFrom, toArray } from 'rxjs';
import { acsDelta } from '../../../../src/codecs/formats.js';
import type { Update } from '../../../../src/codecs/Update.js';
import { createLedger } from '../../../../src/ledger/createLedger.js';

/** What the ledger has, as the example is to keep it. */
export interface Kept {
  readonly history: readonly { offset: number; updateId: string; kind: string; changes: unknown }[];
  /** By contract and synchronizer. */
  readonly contracts: ReadonlyMap<string, { templateId: string; payload: unknown }>;
}

/** Reads a ledger that is at rest. */
export async function updatesOf(
  baseUrl: string,
  endInclusive: number,
  beginExclusive = 0,
  token = 'reader',
): Promise<readonly Update[]> {
  const ledger = createLedger({ baseUrl, token, requestTimeoutMs: 1_000, retry: { baseDelayMs: 1 } });
  const request = { beginExclusive, endInclusive, updateFormat: acsDelta({ parties: 'any' }) };
  const updates = await lastValueFrom(ledger.updates(request).pipe(toArray()));
  return updates.filter(({ _tag }) => _tag !== 'OffsetCheckpoint');
}

/** What the example is to make of it. */
export async function ledgerIs(baseUrl: string, end: number): Promise<Kept> {
  const contracts = new Map<string, { templateId: string; payload: unknown }>();
  const history = (await updatesOf(baseUrl, end)).map((update) => {
    if (!('updateId' in update)) throw new Error('the sandbox has no other updates');
    const changes: unknown[] = [];
    const come = (synchronizerId: string, contractId: string, templateId: string, payload: unknown): void => {
      contracts.set(`${contractId} ${synchronizerId}`, { templateId, payload });
      changes.push({ contractId, synchronizerId, created: { templateId, payload } });
    };
    const go = (synchronizerId: string, contractId: string): void => {
      if (!contracts.delete(`${contractId} ${synchronizerId}`)) throw new Error(`${contractId} was not there`);
      changes.push({ contractId, synchronizerId });
    };
    for (const event of update.events) {
      if (event._tag === 'CreatedEvent' && 'synchronizerId' in update)
        come(update.synchronizerId ?? '', event.contractId, event.templateId, event.createArgument ?? null);
      if (event._tag === 'ArchivedEvent' && 'synchronizerId' in update)
        go(update.synchronizerId ?? '', event.contractId);
      if (event._tag === 'UnassignedEvent') go(event.source, event.contractId);
      if (event._tag === 'AssignedEvent') {
        const { contractId, templateId, createArgument } = event.createdEvent;
        come(event.target, contractId, templateId, createArgument ?? null);
      }
    }
    return { offset: update.offset, updateId: update.updateId, kind: update._tag, changes };
  });
  return { history, contracts };
}

/** How many contracts of each template there are. */
export function countsOf({ contracts }: Kept): readonly { templateId: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { templateId } of contracts.values()) counts.set(templateId, (counts.get(templateId) ?? 0) + 1);
  return [...counts]
    .map(([templateId, count]) => ({ templateId, count }))
    .sort((a, b) => (a.templateId < b.templateId ? -1 : 1));
}
