import { lastValueFrom, toArray } from 'rxjs';
import type { Update } from '../../../../src/codecs/Update.js';
import { acsDelta } from '../../../../src/codecs/formats.js';
import { createLedger } from '../../../../src/ledger/createLedger.js';

/** The ledger in the form in which the example must store it. */
export interface Expected {
  readonly history: readonly { offset: number; updateId: string; kind: string; changes: unknown }[];
  /** By contract and synchronizer. */
  readonly contracts: ReadonlyMap<string, { templateId: string; payload: unknown }>;
}

/** Reads a range of a ledger, without checkpoints. */
export async function readUpdates(
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

/** Computes what the example must store. */
export async function readExpected(baseUrl: string, end: number): Promise<Expected> {
  const contracts = new Map<string, { templateId: string; payload: unknown }>();
  const history = (await readUpdates(baseUrl, end)).map((update) => {
    if (!('updateId' in update)) throw new Error('the sandbox has no other updates');
    const changes: unknown[] = [];
    const add = (synchronizerId: string, contractId: string, templateId: string, payload: unknown): void => {
      contracts.set(`${contractId} ${synchronizerId}`, { templateId, payload });
      changes.push({ contractId, synchronizerId, created: { templateId, payload } });
    };
    const remove = (synchronizerId: string, contractId: string): void => {
      if (!contracts.delete(`${contractId} ${synchronizerId}`)) throw new Error(`${contractId} was not there`);
      changes.push({ contractId, synchronizerId });
    };
    for (const event of update.events) {
      if (event._tag === 'CreatedEvent' && 'synchronizerId' in update)
        add(update.synchronizerId ?? '', event.contractId, event.templateId, event.createArgument ?? null);
      if (event._tag === 'ArchivedEvent' && 'synchronizerId' in update)
        remove(update.synchronizerId ?? '', event.contractId);
      if (event._tag === 'UnassignedEvent') remove(event.source, event.contractId);
      if (event._tag === 'AssignedEvent') {
        const { contractId, templateId, createArgument } = event.createdEvent;
        add(event.target, contractId, templateId, createArgument ?? null);
      }
    }
    return { offset: update.offset, updateId: update.updateId, kind: update._tag, changes };
  });
  return { history, contracts };
}

/** The number of contracts of each template. */
export function countContracts({ contracts }: Expected): readonly { templateId: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { templateId } of contracts.values()) counts.set(templateId, (counts.get(templateId) ?? 0) + 1);
  return [...counts]
    .map(([templateId, count]) => ({ templateId, count }))
    .sort((a, b) => (a.templateId < b.templateId ? -1 : 1));
}
