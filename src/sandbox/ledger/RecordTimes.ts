import { microsOf } from '../wire/microsOf.js';
import { timestampOf } from '../wire/timestampOf.js';

/** Where generated time starts: a fixed instant, so that generated ledgers are the same on every day. */
const start = Date.UTC(2026, 0, 1) * 1000;

/** The latest record time of each synchronizer. They ascend on each, and have no order between them. */
export class RecordTimes {
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
