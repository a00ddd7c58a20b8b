import { asyncScheduler, type Observable, type SchedulerLike, Subject } from 'rxjs';
import { checkNotNegative } from '../../codecs/internal/numbers.js';
import { formatMicros, parseMicros } from '../wire/values.js';
import { templatesIn, updateValue, type WireUpdate } from '../wire/WireUpdate.js';
import { ContractHistory } from './ContractHistory.js';
import { Packages } from './Packages.js';

/** An update to commit. */
export interface LedgerEntry {
  readonly update: WireUpdate;
  /** The parties that submitted it, if known. */
  readonly submitters?: readonly string[];
}

/** The updates, the ledger end, and the state derived from them. */
export class Ledger {
  readonly updates: WireUpdate[] = [];
  readonly contracts = new ContractHistory();
  readonly recordTimes: RecordTimes;
  /** Goes into each new id, so that no other participant of the same history makes the same one. */
  salt: readonly (string | number)[] = [];
  readonly #offsets: number[] = [];
  readonly #offsetById = new Map<string, number>();
  readonly #submitters = new Map<number, readonly string[]>();
  readonly #changes = new Subject<void>();
  #end = 0;
  #pruned = 0;
  #commits = 0;
  #restores = 0;

  constructor(
    readonly packages = new Packages(),
    readonly scheduler: SchedulerLike = asyncScheduler,
  ) {
    this.recordTimes = new RecordTimes(scheduler);
  }

  /** Emits after each change. */
  get changes$(): Observable<void> {
    return this.#changes;
  }

  /** The time of the participant, in milliseconds since the epoch. */
  now(): number {
    return this.scheduler.now();
  }

  get end(): number {
    return this.#end;
  }

  get pruned(): number {
    return this.#pruned;
  }

  /** The number of all commits, including those undone by a restore. */
  get commits(): number {
    return this.#commits;
  }

  /** The number of all restores. A stream that began before a restore shows another ledger. */
  get restores(): number {
    return this.#restores;
  }

  /** Commits updates, each with an offset greater than the ledger end. The caller notifies the subscribers. */
  commit(entries: Iterable<LedgerEntry>): void {
    for (const { update, submitters } of entries) {
      const { offset } = updateValue(update);
      if (offset <= this.#end)
        throw new RangeError(`The offset ${offset} must be greater than the ledger end ${this.#end}`);
      this.add(update);
      this.#commits += 1;
      if (submitters !== undefined) this.#submitters.set(offset, submitters);
    }
  }

  /** Notifies the subscribers of what was committed. They may commit more. */
  notify(): void {
    this.#changes.next();
  }

  advance(offsets: number): void {
    if (!Number.isInteger(offsets) || offsets < 0)
      throw new RangeError('The number of offsets must be a non-negative integer');
    this.#end += offsets;
    this.notify();
  }

  prune(upToInclusive: number): void {
    checkNotNegative({ upToInclusive }, true);
    if (upToInclusive > this.#end)
      throw new RangeError(`The offset ${upToInclusive} must not be greater than the ledger end ${this.#end}`);
    this.#pruned = Math.max(this.#pruned, upToInclusive);
  }

  /** Removes the updates after an offset, and returns them. New updates are later than they, unless they `return`. */
  restore(end: number, { returns }: { readonly returns: boolean }): readonly LedgerEntry[] {
    checkNotNegative({ ledgerEnd: end }, true);
    if (end > this.#end) throw new RangeError(`The offset ${end} must not be greater than the ledger end ${this.#end}`);
    this.#restores += 1;
    const index = firstIndexAfter(this.#offsets, end);
    const rest = [...this.entriesFrom(index)];
    const kept = this.updates.slice(0, index);
    this.updates.length = 0;
    this.#offsets.length = 0;
    this.#offsetById.clear();
    this.contracts.clear();
    this.recordTimes.clear({ returns });
    for (const offset of this.#submitters.keys()) if (offset > end) this.#submitters.delete(offset);
    for (const update of kept) this.add(update);
    this.#end = end;
    // a backup from before the pruning
    if (end < this.#pruned) this.#pruned = 0;
    return rest;
  }

  /** The updates from an index on, as they were committed. */
  *entriesFrom(index: number): Generator<LedgerEntry, void> {
    for (let next = index; next < this.updates.length; next++) {
      const [update, offset] = [this.updates[next], this.#offsets[next]];
      if (update === undefined || offset === undefined) return;
      const submitters = this.#submitters.get(offset);
      yield { update, ...(submitters !== undefined && { submitters }) };
    }
  }

  /** The index of the first update with a greater offset. */
  indexAfter(offset: number): number {
    return firstIndexAfter(this.#offsets, offset);
  }

  at(offset: number): WireUpdate | undefined {
    const index = firstIndexAfter(this.#offsets, offset) - 1;
    return this.#offsets[index] === offset ? this.updates[index] : undefined;
  }

  offsetOf(updateId: string): number | undefined {
    return this.#offsetById.get(updateId);
  }

  /** The parties that submitted an update, if known. */
  submittersOf(offset: number): readonly string[] | undefined {
    return this.#submitters.get(offset);
  }

  private add(update: WireUpdate): void {
    const { offset, updateId, synchronizerId, recordTime } = updateValue(update);
    this.updates.push(update);
    this.#offsets.push(offset);
    this.#offsetById.set(updateId, offset);
    this.recordTimes.advance(synchronizerId, recordTime);
    for (const template of templatesIn(update)) this.packages.add(template);
    this.contracts.add(update);
    this.#end = offset;
  }
}

/** A time before the first record time. It is fixed, so that the times of appended updates do not depend on the day. */
const timeStart = Date.UTC(2026, 0, 1) * 1000;

const dayMicros = 86_400_000_000;

/** The latest record time of each synchronizer. Record times ascend per synchronizer, not across synchronizers. */
class RecordTimes {
  readonly #latest = new Map<string, { readonly recordTime: string; readonly micros: number }>();
  /** The latest times of updates that are lost, in microseconds. The time of a synchronizer does not go back with a participant. */
  readonly #lost = new Map<string, number>();
  /** A time before the first record time. Virtual time begins long before that of machines. */
  readonly #start: number;
  readonly #isVirtual: boolean;

  constructor(private readonly scheduler: SchedulerLike) {
    this.#start = Math.min(timeStart, this.nowMicros() - dayMicros);
    this.#isVirtual = this.#start < timeStart;
  }

  /** The record times in the form of checkpoints and, since 3.6, of the ledger end. */
  get all(): readonly { readonly synchronizerId: string; readonly recordTime: string }[] {
    return [...this.#latest].map(([synchronizerId, { recordTime }]) => ({ synchronizerId, recordTime }));
  }

  /** The latest record time of a synchronizer that any update has or had, in microseconds. */
  latest(synchronizerId: string): number {
    return Math.max(this.#latest.get(synchronizerId)?.micros ?? this.#start, this.#lost.get(synchronizerId) ?? 0);
  }

  /** Returns the current time, or just after the latest record time if that is later. */
  now(synchronizerId: string): string {
    return this.after(synchronizerId, this.nowMicros());
  }

  /** Returns a second after the latest record time, but not later than the clock; in virtual time, the current time. */
  next(synchronizerId: string): string {
    if (this.#isVirtual) return this.now(synchronizerId);
    return this.after(synchronizerId, Math.min(this.latest(synchronizerId) + 1_000_000, this.nowMicros()));
  }

  /** Returns a time in microseconds, or just after the latest record time if that is later. */
  after(synchronizerId: string, micros: number): string {
    return formatMicros(Math.max(micros, this.latest(synchronizerId) + 1));
  }

  advance(synchronizerId: string, recordTime: string): void {
    const micros = parseMicros(recordTime);
    const { micros: latest = this.#start } = this.#latest.get(synchronizerId) ?? {};
    if (micros >= latest) this.#latest.set(synchronizerId, { recordTime, micros });
  }

  private nowMicros(): number {
    return Math.round(this.scheduler.now() * 1000);
  }

  clear({ returns }: { readonly returns: boolean }): void {
    if (!returns) for (const id of this.#latest.keys()) this.#lost.set(id, this.latest(id));
    this.#latest.clear();
  }
}

/** The index of the first greater offset, by binary search. */
function firstIndexAfter(offsets: readonly number[], offset: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] ?? Infinity) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
