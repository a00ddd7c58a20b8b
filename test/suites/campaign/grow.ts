import { asyncScheduler, timer } from 'rxjs';
import type { Update } from '../../../src/codecs/Update.js';
import type { Entry, VirtualLedger } from '../../helpers/virtualLedger.js';
import { sampleAt } from './pool.js';
import type { Change, Growth, Schedule } from './Schedule.js';

/** Lets a ledger grow and suffer as a schedule says; knows what each of its elements is to its subscribers. */
export class Growing {
  private readonly updates = new WeakMap<object, Update>();
  private isFrozen = false;

  constructor(
    private readonly ledger: VirtualLedger,
    private readonly schedule: Schedule,
  ) {
    schedule.ledger.slice(0, schedule.known).forEach(this.grow);
  }

  readonly updateOf = ({ element }: Entry): Update | undefined => this.updates.get(element);

  /** Starts what comes. */
  start(): void {
    let at = 0;
    for (const growth of this.schedule.ledger.slice(this.schedule.known)) {
      at += growth.afterMs;
      timer(at).subscribe(() => {
        if (!this.isFrozen) this.grow(growth);
      });
    }
    for (const change of this.schedule.changes) {
      timer(change.atMs).subscribe(() => {
        this.apply(change);
      });
    }
  }

  private readonly grow = ({ gap, sample }: Growth): void => {
    const offset = this.ledger.end + gap;
    if (sample === null) {
      this.ledger.end = offset;
      return;
    }
    const { element, update } = sampleAt(sample, offset);
    this.updates.set(element, update);
    this.ledger.append(offset, element);
  };

  private apply(change: Change): void {
    const { ledger } = this;
    switch (change.kind) {
      case 'restart':
        ledger.become({ maxListElements: change.maxListElements });
        ledger.cut();
        return;
      case 'prune':
        ledger.pruned = Math.max(ledger.pruned, Math.floor((ledger.end * change.share) / 1_000));
        return;
      case 'restore': {
        const { end } = ledger;
        ledger.restore(Math.max(ledger.pruned, end - change.back));
        // how far it is at which moment would decide what is to come
        this.isFrozen = true;
        if (change.growsAfterMs !== null)
          asyncScheduler.schedule(() => {
            this.grow({ gap: Math.max(1, end + 1 - ledger.end), sample: 7, afterMs: 0 });
          }, change.growsAfterMs);
        return;
      }
      case 'upgrade':
        return;
    }
  }
}

/** When the last thing happens that a schedule has planned, in milliseconds. */
export function calmAt({ ledger, known, changes, strikes, lag, token }: Schedule): number {
  const growth = ledger.slice(known).reduce((ms, { afterMs }) => ms + afterMs, 0);
  const windows = [lag, token?.trouble, ...strikes.map(({ when }) => ('fromMs' in when ? when : null))];
  return Math.max(
    growth,
    ...changes.map((change) => change.atMs + ('rollingMs' in change ? change.rollingMs : 4_000)),
    ...windows.map((window) => (window ? window.fromMs + window.forMs : 0)),
  );
}
