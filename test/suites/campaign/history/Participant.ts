import { Subject } from 'rxjs';
import { later } from '../../../helpers/virtualTime.js';
import { randomFrom } from '../runs.js';
import type { History, Recorded } from './History.js';

/** An update at its place on a participant. */
export interface Listed {
  readonly offset: number;
  readonly record: Recorded;
}

/** What a restored participant reads again. */
export interface Rereading {
  /** Whether everything gets the offset that it had. */
  readonly isSame: boolean;
  /** The time between two updates, in milliseconds. */
  readonly everyMs: number;
}

/**
 * A participant: it reads the synchronizers of a history, each in its order and all of them in an order of its own, and
 * gives offsets with gaps to what it reads.
 */
export class Participant {
  end: number;
  pruned = 0;
  listing: Listed[] = [];
  /** All orders in which it has listed the updates. */
  readonly orders: Listed[][] = [];
  private readonly news = new Subject<Listed>();
  /** What it reads from now on. */
  readonly listed$ = this.news.asObservable();
  private held = 0;
  private readonly random: () => number;
  private readonly former = new Map<string, number>();
  private reading = 0;

  constructor(
    public participantId: string,
    private history: History,
    private readonly firstOffset: number,
    seed: number,
    private readonly isApart: boolean,
    private readonly index: number,
  ) {
    this.end = firstOffset;
    this.random = randomFrom(seed);
    this.orders.push(this.listing);
  }

  /** Reads what the history has, after a short time of its own. */
  notice(): void {
    if (this.held > 0) return;
    later(Math.floor(this.random() * 4) * 50, () => {
      if (this.held === 0) this.readNext(this.anyWaiting());
    });
  }

  /** Lags for some time. */
  lag(forMs: number, everyMs: number): void {
    this.held += 1;
    const reading = this.reading;
    later(forMs, () => {
      if (reading !== this.reading) return;
      this.held -= 1;
      this.readAll(everyMs);
    });
  }

  /** Moves its end, as an update does that concerns nobody here. */
  advance(offsets: number): void {
    this.end += offsets;
  }

  /** Returns to a backup from when its ledger ended at an offset, and reads the rest again. */
  restore(offset: number, rereading: Rereading): void {
    for (const { record, offset: at } of this.listing) this.former.set(record.updateId, at);
    this.cut((listed) => listed.offset <= offset, offset);
    this.held += 1;
    this.reread(rereading);
  }

  /** Reads another history, from where it is the same on. */
  turnTo(history: History): void {
    this.history = history;
    const first = this.listing.findIndex(({ record }) => !history.has(record.updateId));
    const kept = first < 0 ? this.listing : this.listing.slice(0, first);
    this.former.clear();
    this.cut((listed) => kept.includes(listed), kept.at(-1)?.offset ?? this.firstOffset);
    this.held += 1;
    this.reread({ isSame: false, everyMs: 0 });
  }

  /** Reads everything that waits. */
  readAll(everyMs: number): void {
    if (this.held > 0) return;
    const synchronizerId = this.anyWaiting();
    if (synchronizerId === undefined) return;
    this.readNext(synchronizerId);
    if (everyMs === 0) this.readAll(0);
    else
      later(everyMs, () => {
        this.readAll(everyMs);
      });
  }

  /** The newest record time that it has of each synchronizer. */
  times(): ReadonlyMap<string, number> {
    return new Map(this.listing.map(({ record }) => [record.synchronizerId, record.time]));
  }

  private cut(keeps: (listed: Listed) => boolean, end: number): void {
    this.listing = this.listing.filter(keeps);
    this.orders.push(this.listing);
    this.end = end;
    this.pruned = Math.min(this.pruned, end);
    this.reading += 1;
    this.held = 0;
  }

  /** Reads again, one by one. Until it is done, news wait. */
  private reread({ isSame, everyMs }: Rereading): void {
    const reading = this.reading;
    const step = (): void => {
      if (reading !== this.reading) return;
      const next = (isSame ? this.formerWaiting() : undefined) ?? this.anyWaiting();
      if (next !== undefined) this.readNext(next, isSame);
      if (next === undefined) this.held -= 1;
      else if (everyMs === 0) step();
      else later(everyMs, step);
    };
    if (everyMs === 0) step();
    else later(everyMs, step);
  }

  private waiting(): Recorded[] {
    const known = new Set(this.listing.map(({ record }) => record.updateId));
    return [...this.history.records.values()].flatMap((queue) =>
      queue.filter(({ updateId }) => !known.has(updateId)).slice(0, 1),
    );
  }

  private anyWaiting(): string | undefined {
    const waiting = this.waiting();
    return waiting[Math.floor(this.random() * waiting.length)]?.synchronizerId;
  }

  /** The synchronizer of what came next before. */
  private formerWaiting(): string | undefined {
    const known = this.waiting().filter(({ updateId }) => this.former.has(updateId));
    const at = ({ updateId }: Recorded): number => this.former.get(updateId) ?? 0;
    return known.sort((one, other) => at(one) - at(other))[0]?.synchronizerId;
  }

  private readNext(synchronizerId: string | undefined, isSame = false): void {
    const record = this.waiting().find((waiting) => waiting.synchronizerId === synchronizerId);
    if (record === undefined) return;
    const former = isSame ? this.former.get(record.updateId) : undefined;
    const offset = former !== undefined && former > this.end ? former : this.nextOffset();
    this.end = offset;
    const listed = { offset, record };
    this.listing.push(listed);
    this.news.next(listed);
  }

  /** Offsets may be others than on another participant, and after a restore others than all before. */
  private nextOffset(): number {
    const next = this.end + 1 + Math.floor(this.random() ** 2 * 4);
    if (!this.isApart) return next;
    const own = this.reading * participants + this.index;
    return next + ((((own - next) % residues) + residues) % residues);
  }
}

/** How many participants there are, at most. */
const participants = 3;

/** Each of them can be restored six times to offsets that it never had. */
const residues = 6 * participants;
