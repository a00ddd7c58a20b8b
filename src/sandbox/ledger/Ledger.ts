import { createdIn, valueOf } from '../wire/events.js';
import { microsOf, timestampOf } from '../wire/values.js';
import type { WireUpdate } from '../wire/WireUpdate.js';
import { applyToContracts, Contracts } from './Contracts.js';
import { Packages } from './Packages.js';

/** An update to commit. */
export interface LedgerEntry {
  readonly update: WireUpdate;
  /** The parties that submitted it, if that is known. */
  readonly submitters?: readonly string[];
}

/** The updates, the ledger end and all that follows from them. */
export class Ledger {
  readonly updates: WireUpdate[] = [];
  readonly contracts = new Contracts();
  readonly packages = new Packages();
  readonly recordTimes = new RecordTimes();
  readonly #offsets: number[] = [];
  readonly #offsetById = new Map<string, number>();
  readonly #submitters = new Map<number, readonly string[]>();
  readonly #listeners = new Set<() => void>();
  #end = 0;
  #pruned = 0;
  #commits = 0;

  get end(): number {
    return this.#end;
  }

  get pruned(): number {
    return this.#pruned;
  }

  /** How many updates there ever were, those undone by a restore included. */
  get commits(): number {
    return this.#commits;
  }

  /** Commits updates, each beyond the ledger end then; those who wait are told after the last one. */
  commit(entries: Iterable<LedgerEntry>): void {
    try {
      for (const { update, submitters } of entries) {
        const { offset } = valueOf(update);
        if (offset <= this.#end) throw new RangeError(`offset ${offset} is not beyond the ledger end ${this.#end}`);
        this.enter(update);
        this.#commits += 1;
        if (submitters !== undefined) this.#submitters.set(offset, submitters);
      }
    } finally {
      this.wake();
    }
  }

  advance(offsets: number): void {
    if (!Number.isInteger(offsets) || offsets < 0) throw new RangeError('the ledger end moves on by whole offsets');
    this.#end += offsets;
    this.wake();
  }

  prune(upToInclusive: number): void {
    if (upToInclusive > this.#end)
      throw new RangeError(`offset ${upToInclusive} is beyond the ledger end ${this.#end}`);
    this.#pruned = Math.max(this.#pruned, upToInclusive);
  }

  restore(end: number): void {
    if (end < 0 || end > this.#end) throw new RangeError(`there is no backup with ledger end ${end}`);
    const kept = this.updates.slice(0, firstAfter(this.#offsets, end));
    this.updates.length = 0;
    this.#offsets.length = 0;
    this.#offsetById.clear();
    this.contracts.clear();
    this.recordTimes.clear();
    for (const offset of this.#submitters.keys()) if (offset > end) this.#submitters.delete(offset);
    for (const update of kept) this.enter(update);
    this.#end = end;
    this.#pruned = Math.min(this.#pruned, end);
  }

  /** The place of the first update beyond an offset. */
  placeAfter(offset: number): number {
    return firstAfter(this.#offsets, offset);
  }

  at(offset: number): WireUpdate | undefined {
    const place = firstAfter(this.#offsets, offset) - 1;
    return this.#offsets[place] === offset ? this.updates[place] : undefined;
  }

  offsetOf(updateId: string): number | undefined {
    return this.#offsetById.get(updateId);
  }

  /** The parties that submitted an update, if that is known. */
  submittersOf(offset: number): readonly string[] | undefined {
    return this.#submitters.get(offset);
  }

  /** Calls back on each change until the returned function is called. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  private enter(update: WireUpdate): void {
    const { offset, updateId, synchronizerId, recordTime } = valueOf(update);
    this.updates.push(update);
    this.#offsets.push(offset);
    this.#offsetById.set(updateId, offset);
    this.recordTimes.advance(synchronizerId, recordTime);
    for (const created of createdIn(update)) this.packages.learn(created);
    applyToContracts(update, this.contracts);
    this.#end = offset;
  }

  private wake(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Where generated time starts: a fixed instant, so that generated ledgers are the same on every day. */
const start = Date.UTC(2026, 0, 1) * 1000;

/** The latest record time of each synchronizer. They ascend on each, and have no order between them. */
class RecordTimes {
  readonly #latest = new Map<string, { readonly recordTime: string; readonly micros: number }>();

  /** As checkpoints and the ledger end of 3.6 tell it. */
  get all(): readonly { readonly synchronizerId: string; readonly recordTime: string }[] {
    return [...this.#latest].map(([synchronizerId, { recordTime }]) => ({ synchronizerId, recordTime }));
  }

  /** In microseconds. */
  latest(synchronizerId: string): number {
    return this.#latest.get(synchronizerId)?.micros ?? start;
  }

  /** The present, but after all that was recorded. */
  now(synchronizerId: string): string {
    return timestampOf(Math.max(Date.now() * 1000, this.latest(synchronizerId) + 1));
  }

  /** A while later than all that was recorded, whatever the clock says. */
  next(synchronizerId: string, stepMicros = 1_000_000): string {
    return timestampOf(this.latest(synchronizerId) + stepMicros);
  }

  advance(synchronizerId: string, recordTime: string): void {
    const micros = microsOf(recordTime);
    if (micros >= this.latest(synchronizerId)) this.#latest.set(synchronizerId, { recordTime, micros });
  }

  clear(): void {
    this.#latest.clear();
  }
}

/** The index of the first item beyond an offset, by binary search. */
function firstAfter(offsets: readonly number[], offset: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] ?? Infinity) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
