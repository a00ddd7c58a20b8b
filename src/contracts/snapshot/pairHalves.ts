import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  map,
  mergeMap,
  type Observable,
  of,
  tap,
  toArray,
} from 'rxjs';
import type { ContractEntry, IncompleteUnassigned } from '../../codecs/ContractEntry.js';
import { CreatedEvent } from '../../codecs/Event.js';
import { optional } from '../../codecs/internal/field.js';
import { envelope, message } from '../../codecs/internal/message.js';
import type { UnassignedEvent } from '../../codecs/Reassignment.js';
import { DecodeError } from '../../errors/feed.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import { isTransient } from '../../errors/verdict.js';
import { decodeWith, exchange } from '../../client/exchange.js';
import { retryTransient } from '../../http/retry.js';
import type { Snapshot } from './request.js';
import { listPath, readAt, type SnapshotPart } from './transports.js';

/**
 * Reads a snapshot in which each contract in flight has both its halves: the created event and the unassigned event.
 *
 * A participant, such as 3.5.10, may put the halves of different contracts into one entry. If its pages divide the
 * contracts in flight, a created event may also come twice, and another one not at all. So the halves of such entries are
 * held until the snapshot is complete, and paired by contract. Entries of one contract pass unchanged.
 */
export const readPairedAt = (snapshot: Snapshot): Observable<SnapshotPart> =>
  defer(() => {
    let halves = new Halves();
    return from(readAt(snapshot)).pipe(
      concatMap((part) => {
        switch (part._tag) {
          case 'SnapshotStarted':
            halves = new Halves();
            return [part];
          case 'SnapshotEntries':
            return [{ ...part, entries: part.entries.filter((entry) => !halves.hold(entry)) }];
          case 'SnapshotCompleted':
            return concat(readHeld(snapshot, halves, part.offset), [part]);
        }
      }),
    );
  });

/** The participant sent no unassigned event for a created event, so that it is unknown where the contract is. */
export class UnpairedError extends DecodeError {}

/** The halves of contracts in flight whose entries have two contracts. */
class Halves {
  readonly #created = new Map<string, CreatedEvent>();
  readonly #unassigned = new Map<string, UnassignedEvent>();
  /** The contracts in flight that have an unassigned event, held or not. */
  readonly #inFlight = new Set<string>();

  /** Takes the halves of an entry. Returns `false` for an entry of one contract, which needs no pairing. */
  hold(entry: ContractEntry): boolean {
    if (entry._tag !== 'IncompleteUnassigned') return false;
    const { createdEvent, unassignedEvent } = entry;
    const { contractId } = unassignedEvent;
    this.#inFlight.add(contractId);
    if (createdEvent.contractId === contractId) return false;
    this.#created.set(createdEvent.contractId, createdEvent);
    this.#unassigned.set(`${contractId} ${unassignedEvent.reassignmentCounter}`, unassignedEvent);
    return true;
  }

  /** The contract of a created event that has no unassigned event; `undefined` if all have one. */
  get unpaired(): string | undefined {
    return [...this.#created.keys()].find((contractId) => !this.#inFlight.has(contractId));
  }

  /** The unassigned events, each with a created event of its contract if there is one. */
  get pairs(): readonly Pair[] {
    return [...this.#unassigned.values()].map((unassignedEvent) => ({
      unassignedEvent,
      createdEvent: this.#created.get(unassignedEvent.contractId),
    }));
  }
}

/** An unassigned event, and the created event of its contract if it is known. */
interface Pair {
  readonly unassignedEvent: UnassignedEvent;
  readonly createdEvent: CreatedEvent | undefined;
}

/** Emits the entries of the halves that were held. Reads the created events that the snapshot lacks. */
function readHeld(snapshot: Snapshot, halves: Halves, offset: number): Observable<SnapshotPart> {
  const { pairs, unpaired } = halves;
  if (unpaired !== undefined) {
    const expected = `an unassigned event of the contract ${unpaired}, which is in flight`;
    throw new UnpairedError(listPath, [{ path: 'contractEntry', expected }], offset);
  }
  return from(pairs).pipe(
    mergeMap((pair) => (pair.createdEvent === undefined ? readCreation(snapshot, pair) : of(pair)), maxRequests),
    toArray(),
    concatMap((found) => {
      const missing = found.flatMap((pair) => (pair.createdEvent === undefined ? [pair.unassignedEvent] : []));
      return concat(entriesOf(found), readEarlier(snapshot, missing));
    }),
  );
}

/** The number of contracts to look up at the same time. */
const maxRequests = 4;

function entriesOf(pairs: readonly Pair[]): readonly SnapshotPart[] {
  const entries = pairs.flatMap(({ createdEvent, unassignedEvent }): readonly IncompleteUnassigned[] =>
    createdEvent === undefined ? [] : [{ _tag: 'IncompleteUnassigned', createdEvent, unassignedEvent }],
  );
  return entries.length === 0 ? [] : [{ _tag: 'SnapshotEntries', entries }];
}

const eventsPath = '/v2/events/events-by-contract-id';

/** The events of a contract, as far as they are needed here: a later archive does not matter. */
const ContractEvents = message<{ readonly created?: CreatedEvent }>('ContractEvents', {
  created: optional(envelope('createdEvent', CreatedEvent)),
});

/**
 * Looks up the creation of a contract. A participant does not find it if the contract came by an assignment, if it is
 * archived and pruned by now, or if the creation was not visible. Or it, or a gateway, does not serve the path.
 */
function readCreation({ source, eventFormat }: Snapshot, { unassignedEvent }: Pair): Observable<Pair> {
  const { contractId } = unassignedEvent;
  const call = { method: 'POST', path: eventsPath, body: { contractId, eventFormat } } as const;
  return exchange(source.client, call, decodeWith(eventsPath, ContractEvents)).pipe(
    retryTransient(source),
    map(({ created }) => ({
      unassignedEvent,
      createdEvent: created?.contractId === contractId ? created : undefined,
    })),
    catchError((error: unknown) => {
      if (isLedgerError(error) && !isTransient(error)) return of({ unassignedEvent, createdEvent: undefined });
      throw error;
    }),
  );
}

/**
 * Finds created events in earlier snapshots. Right before its unassignment, a contract was active on its source. If it was
 * not there, the participant does not know the contract: the unassignment says nothing, as in a feed.
 */
function readEarlier(snapshot: Snapshot, unassigned: readonly UnassignedEvent[]): Observable<SnapshotPart> {
  const [first, ...others] = [...unassigned].sort((one, other) => one.offset - other.offset);
  if (first === undefined) return EMPTY;
  const ids = new Set(unassigned.map(({ contractId }) => contractId));
  const found = new Map<UnassignedEvent, CreatedEvent>();
  const find = (entry: ContractEntry): void => {
    if (entry._tag !== 'ActiveContract' || !ids.has(entry.createdEvent.contractId)) return;
    const { createdEvent, synchronizerId, reassignmentCounter } = entry;
    const ended = unassigned.find(
      (event) =>
        event.contractId === createdEvent.contractId &&
        event.source === synchronizerId &&
        // a contract that is unassigned later may be there already
        (event === first || event.reassignmentCounter === reassignmentCounter + 1),
    );
    if (ended !== undefined) found.set(ended, createdEvent);
  };
  return concat(
    from(readAt({ ...snapshot, offset: first.offset - 1 })).pipe(
      tap((part) => {
        if (part._tag === 'SnapshotEntries') part.entries.forEach(find);
      }),
      ignoreElements(),
    ),
    defer(() => {
      const pairs = [...found].map(([unassignedEvent, createdEvent]) => ({ unassignedEvent, createdEvent }));
      const rest = others.filter((event) => !found.has(event));
      return concat(entriesOf(pairs), readEarlier(snapshot, rest));
    }),
  );
}
