import { concatMap, defer, type Observable, take } from 'rxjs';
import type { ContractEntry } from '../../codecs/ContractEntry.js';
import type { CreatedEvent } from '../../codecs/Event.js';
import type { AssignedEvent, UnassignedEvent } from '../../codecs/Reassignment.js';
import type { Int64 } from '../../codecs/scalars.js';
import type { Update } from '../../codecs/Update.js';
import { createLedgerFeed } from '../../feed/LedgerFeed.js';
import { steps } from '../../feed/updates.js';
import type { InvalidUpdate } from '../../feed/UpdatesOptions.js';
import { updateFormatOf } from '../ContractQuery.js';
import type { Snapshot } from './request.js';
import type { SnapshotPart } from './SnapshotPart.js';

/**
 * Makes a snapshot from all updates up to its offset: the entries that the service itself would list. A ledger that is
 * pruned does not have them all, which is a `PrunedError`. Without an offset, the snapshot is at the end of the ledger.
 *
 * It is a feed of its own, with its own diagnostics.
 */
export const readFromUpdates = ({ source, eventFormat, offset }: Snapshot): Observable<SnapshotPart> =>
  defer(() => {
    const { service, updates, retry } = source;
    const request = { beginExclusive: 0, endInclusive: offset, updateFormat: updateFormatOf(eventFormat) };
    const options = { ...updates, transport: 'http', retry } as const;
    const feed = createLedgerFeed(service, request, options, undefined, service.reportForNewFeed());
    const entries: Entries = new Map();
    return steps(feed).pipe(
      concatMap(({ position, page }): readonly SnapshotPart[] => {
        if (page?.failure !== undefined) throw page.failure;
        for (const update of page?.updates ?? []) applyUpdate(entries, update);
        const isLast = position.next === 'end' || (offset === undefined && position.hasCaughtUp);
        if (!isLast) return [];
        return [
          { _tag: 'SnapshotEntries', entries: [...entries.values()].filter((entry) => entry !== undefined) },
          { _tag: 'SnapshotCompleted', offset: position.cursor },
        ];
      }),
      // without an offset the feed does not end by itself
      take(2),
    );
  });

/**
 * What updates leave behind: contracts that are active, by contract and synchronizer, and halves of reassignments of which the
 * other half is missing, by contract and counter. `undefined`: a half that has no entry, since the contract is not known.
 */
type Entries = Map<string, ContractEntry | undefined>;

function applyUpdate(entries: Entries, update: Update | InvalidUpdate): void {
  if (update._tag !== 'Transaction' && update._tag !== 'Reassignment') return;
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

/** The two halves of a reassignment have the same counter. The replication of a party has assignments without another half. */
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
