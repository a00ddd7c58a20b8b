import { setTimeout as wait } from 'node:timers/promises';
import * as t from 'io-ts';
import { ContractElement, type ContractEntry } from '../../../src/codecs/ContractEntry.js';
import type { ContractState } from './children/rows.js';
import type { World } from './world.js';

/** The contracts that the ledger has in the end, read without the library's snapshots and its fold. */
export async function ledgerContracts({ sandbox }: World): Promise<readonly ContractState[]> {
  sandbox.configure({ maxListElements: 1_000_000 });
  const entries = await readEntries(`${sandbox.url}/v2/state/active-contracts`, sandbox.ledgerEnd);
  const latest = new Map<string, { readonly counter: number; readonly state: ContractState | undefined }>();
  const keep = (contractId: string, counter: number, state?: ContractState): void => {
    const known = latest.get(contractId);
    // an entry of the same counter that has the contract is better than one that only says that the others are old
    if (known === undefined || known.counter < counter || (known.counter === counter && known.state === undefined))
      latest.set(contractId, { counter, state });
  };
  for (const entry of entries) {
    if (entry._tag === 'ActiveContract') {
      const { createdEvent, synchronizerId, reassignmentCounter } = entry;
      const { contractId, createArgument: payload } = createdEvent;
      keep(contractId, reassignmentCounter, {
        contractId,
        synchronizerId,
        inFlightTo: null,
        reassignmentCounter,
        payload,
      });
    } else if (entry._tag === 'IncompleteUnassigned') {
      const { source: synchronizerId, target: inFlightTo, reassignmentCounter } = entry.unassignedEvent;
      const { contractId, createArgument: payload } = entry.createdEvent;
      keep(contractId, reassignmentCounter, { contractId, synchronizerId, inFlightTo, reassignmentCounter, payload });
    } else if (entry._tag === 'IncompleteAssigned') {
      const { createdEvent, reassignmentCounter } = entry.assignedEvent;
      keep(createdEvent.contractId, reassignmentCounter);
    } else throw new Error(`an entry of the kind ${entry.variant}`);
  }
  return [...latest.values()].flatMap(({ state }) => state ?? []);
}

/** The snapshot at an offset as one list; asked for again while faults are queued. */
async function readEntries(url: string, activeAtOffset: number): Promise<readonly ContractEntry[]> {
  const wildcard = { identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } };
  const eventFormat = { filtersByParty: {}, filtersForAnyParty: { cumulative: [wildcard] }, verbose: true };
  const body = JSON.stringify({ activeAtOffset, eventFormat });
  const headers = { 'content-type': 'application/json' };
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) });
      const elements = t.array(ContractElement).decode(await response.json());
      if (response.ok && elements._tag === 'Right') return elements.right.map(({ contractEntry }) => contractEntry);
    } catch {
      // a fault
    }
    await wait(10);
  }
  throw new Error('the ledger does not serve its contracts');
}
