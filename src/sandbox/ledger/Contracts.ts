import type { WireCreatedEvent } from '../wire/WireEvent.js';
import type { WireReassignmentEvent } from '../wire/WireReassignment.js';
import type { WireUpdate } from '../wire/WireUpdate.js';

/** An active contract and where it is. */
export interface Contract {
  readonly created: WireCreatedEvent;
  readonly synchronizerId: string;
  readonly reassignmentCounter: number;
}

/** Active contracts; one can be picked by its place in constant time. */
export class Contracts {
  readonly #ids: string[] = [];
  readonly #places = new Map<string, number>();
  readonly #contracts = new Map<string, Contract>();

  get size(): number {
    return this.#ids.length;
  }

  get(contractId: string): Contract | undefined {
    return this.#contracts.get(contractId);
  }

  at(place: number): Contract | undefined {
    return this.get(this.#ids[place] ?? '');
  }

  add(contract: Contract): void {
    const { contractId } = contract.created;
    if (!this.#places.has(contractId)) this.#places.set(contractId, this.#ids.push(contractId) - 1);
    this.#contracts.set(contractId, contract);
  }

  remove(contractId: string): void {
    const place = this.#places.get(contractId);
    const last = this.#ids.at(-1);
    if (place === undefined || last === undefined) return;
    // the last one moves into the gap, so that no list is shifted
    this.#ids[place] = last;
    this.#places.set(last, place);
    this.#ids.pop();
    this.#places.delete(contractId);
    this.#contracts.delete(contractId);
  }

  clear(): void {
    this.#ids.length = 0;
    this.#places.clear();
    this.#contracts.clear();
  }
}

/** What an update does to the active contracts. */
export function applyToContracts(update: WireUpdate, contracts: Contracts): void {
  if ('Reassignment' in update) for (const event of update.Reassignment.value.events) move(event, contracts);
  if (!('Transaction' in update)) return;
  const { events, synchronizerId } = update.Transaction.value;
  for (const event of events) {
    if ('ArchivedEvent' in event) contracts.remove(event.ArchivedEvent.contractId);
    if ('CreatedEvent' in event && event.CreatedEvent.acsDelta) {
      contracts.add({ created: event.CreatedEvent, synchronizerId, reassignmentCounter: 0 });
    }
  }
}

function move(event: WireReassignmentEvent, contracts: Contracts): void {
  if ('JsUnassignedEvent' in event) {
    contracts.remove(event.JsUnassignedEvent.value.contractId);
  } else {
    const { createdEvent: created, target: synchronizerId, reassignmentCounter } = event.JsAssignmentEvent;
    contracts.add({ created, synchronizerId, reassignmentCounter });
  }
}
