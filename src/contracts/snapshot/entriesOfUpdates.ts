import type { ContractEntry } from '../../codecs/ContractEntry.js';
import type { CreatedEvent } from '../../codecs/Event.js';
import type { AssignedEvent, UnassignedEvent } from '../../codecs/Reassignment.js';
import type { Int64 } from '../../codecs/scalars.js';
import type { Page } from '../../feed/Page.js';
import { hasContracts } from '../applyUpdates.js';

/**
 * What remains after applying updates: active contracts, by contract and synchronizer, and incomplete reassignments, by
 * contract and counter. `undefined` for a side of a reassignment that has no entry, because the contract is not known.
 */
export type Entries = Map<string, ContractEntry | undefined>;

/**
 * Applies an update to the entries that a participant would list. Throws a DecodeError for an unknown kind of update.
 */
export function applyToEntries(path: string, entries: Entries, update: Page['updates'][number]): void {
  if (!hasContracts(path, update)) return;
  const { synchronizerId = '' } = update;
  for (const event of update.events) {
    switch (event._tag) {
      case 'CreatedEvent':
        activate(entries, event, synchronizerId, 0);
        break;
      case 'ArchivedEvent':
        entries.delete(keyOf(event.contractId, synchronizerId));
        break;
      case 'AssignedEvent': {
        const { createdEvent, target, reassignmentCounter } = event;
        activate(entries, createdEvent, target, reassignmentCounter);
        pair(entries, event, createdEvent.contractId, { _tag: 'IncompleteAssigned', assignedEvent: event });
        break;
      }
      case 'UnassignedEvent': {
        const key = keyOf(event.contractId, event.source);
        const active = entries.get(key);
        entries.delete(key);
        pair(
          entries,
          event,
          event.contractId,
          active?._tag === 'ActiveContract'
            ? { _tag: 'IncompleteUnassigned', createdEvent: active.createdEvent, unassignedEvent: event }
            : undefined,
        );
      }
    }
  }
}

function activate(entries: Entries, createdEvent: CreatedEvent, synchronizerId: string, counter: Int64): void {
  const entry = { _tag: 'ActiveContract', createdEvent, synchronizerId, reassignmentCounter: counter } as const;
  entries.set(keyOf(createdEvent.contractId, synchronizerId), entry);
}

/**
 * The two sides of a reassignment have the same counter. The replication of a party has assignments without an
 * unassignment.
 */
function pair(
  entries: Entries,
  { source, target, reassignmentCounter }: AssignedEvent | UnassignedEvent,
  contractId: string,
  half: ContractEntry | undefined,
): void {
  const key = keyOf(contractId, reassignmentCounter);
  if (source !== target && !entries.delete(key)) entries.set(key, half);
}

const keyOf = (contractId: string, place: string | number): string => `${contractId} ${place}`;
