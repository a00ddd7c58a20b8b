import type { Subscription } from 'rxjs';
import type { Ledger, LedgerEntry } from '../ledger/Ledger.js';
import type { Completion, Completions } from '../participant/Completions.js';
import { Random } from '../Random.js';
import { updateAt } from '../wire/updateAt.js';
import { updateValue } from '../wire/WireUpdate.js';

/** An update that a participant has still to read from its synchronizer. */
interface Arrival extends LedgerEntry {
  /** The completion of the submission, if the participant has sent it and reads it again. */
  readonly completion?: Completion;
  /** The offset that it gets; by default one that this participant chooses. */
  readonly offset?: number;
}

/**
 * What a participant has still to read from its synchronizers. It reads the updates of one synchronizer in their order,
 * but those of different ones in its own order, and gives them its own offsets. Both follow from the seed.
 */
export class Inbox {
  readonly #queues = new Map<string, Queue>();
  readonly #random: Random;
  #arrived = 0;
  #size = 0;
  #isPaused = false;
  #timer: Subscription | undefined;
  /** The ledger end that the participant has at least when it has read everything. */
  #endAfterwards = 0;

  constructor(
    private readonly ledger: Ledger,
    private readonly completions: Completions,
    seed: number,
  ) {
    this.#random = new Random(seed);
  }

  /** The number of updates that are not read yet. */
  get size(): number {
    return this.#size;
  }

  /** Receives updates. They are read a few milliseconds later, unless the participant is paused. */
  receive(arrivals: Iterable<Arrival>): void {
    for (const arrival of arrivals) {
      const { synchronizerId } = updateValue(arrival.update);
      const queue = this.#queues.get(synchronizerId) ?? new Queue();
      this.#queues.set(synchronizerId, queue);
      queue.push({ ...arrival, order: (this.#arrived += 1) });
      this.#size += 1;
    }
    this.schedule();
  }

  /** Receives again what the participant had already read, before everything that it has not read yet. */
  readAgain(arrivals: readonly Arrival[], endAfterwards: number): void {
    const later = this.pending;
    this.clear();
    this.#endAfterwards = endAfterwards;
    this.receive([...arrivals, ...later]);
  }

  /** What is not read yet, in the order of the arrivals. */
  get pending(): readonly Arrival[] {
    const waiting = [...this.#queues.values()].flatMap((queue) => queue.waiting);
    return waiting.sort((one, other) => one.order - other.order);
  }

  /** From now on, nothing is read. */
  pause(): void {
    this.#isPaused = true;
    this.stop();
  }

  /** Reads everything, and what arrives later. With a number, reads so many updates and stays paused. */
  resume(count = Infinity): void {
    if (count === Infinity) this.#isPaused = false;
    this.read(count);
  }

  /** Reads what has arrived, unless the participant is paused. */
  settle(): void {
    if (!this.#isPaused) this.drain();
  }

  /** Reads what has arrived, as is necessary before a commit of the participant's own. */
  drain(): void {
    this.read(Infinity);
  }

  /** Drops what is not read yet. */
  clear(): void {
    this.stop();
    this.#queues.clear();
    this.#size = 0;
    this.#endAfterwards = 0;
  }

  private read(count: number): void {
    const { ledger } = this;
    if (this.#size > 0) {
      try {
        ledger.commit(this.take(count));
      } finally {
        ledger.notify();
      }
    }
    if (this.#size > 0) return;
    this.stop();
    if (this.#endAfterwards > ledger.end) ledger.advance(this.#endAfterwards - ledger.end);
    this.#endAfterwards = 0;
  }

  private *take(count: number): Generator<LedgerEntry, void> {
    for (let left = count; left > 0; left--) {
      const arrival = this.next()?.shift();
      if (arrival === undefined) return;
      this.#size -= 1;
      const { update, submitters, completion } = arrival;
      const gap = this.#random.chance(0.3) ? 1 + this.#random.below(4) : 0;
      const free = this.ledger.end + 1;
      const offset = arrival.offset === undefined ? free + gap : Math.max(arrival.offset, free);
      if (completion !== undefined) this.completions.readAgain(completion, offset);
      yield { update: updateAt(update, offset), ...(submitters !== undefined && { submitters }) };
    }
  }

  /** The queue to read next: mostly that of the earliest update. */
  private next(): Queue | undefined {
    const filled = [...this.#queues.values()].filter(({ head }) => head !== undefined);
    const [earliest, ...others] = filled.sort((one, other) => orderOf(one) - orderOf(other));
    const [overtaking] = others;
    // updates that keep their offsets keep their order, too
    const isFixed = earliest?.head?.offset !== undefined;
    return overtaking !== undefined && !isFixed && this.#random.chance(overtakingShare) ? overtaking : earliest;
  }

  private schedule(): void {
    if (this.#isPaused || this.#timer !== undefined || this.#size === 0) return;
    const { scheduler } = this.ledger;
    this.#timer = scheduler.schedule(
      () => {
        this.#timer = undefined;
        // the last one may come later, so that those of another synchronizer overtake it
        this.read(this.#size - (this.#random.chance(overtakingShare) ? 1 : 0));
        this.schedule();
      },
      1 + this.#random.below(longestDelayMs),
    );
  }

  private stop(): void {
    this.#timer?.unsubscribe();
    this.#timer = undefined;
  }
}

const overtakingShare = 0.3;

const longestDelayMs = 10;

type Waiting = Arrival & { readonly order: number };

const orderOf = ({ head }: Queue): number => head?.order ?? Infinity;

/** The updates of a synchronizer, in their order. */
class Queue {
  #items: Waiting[] = [];
  #first = 0;

  get head(): Waiting | undefined {
    return this.#items[this.#first];
  }

  get waiting(): readonly Waiting[] {
    return this.#items.slice(this.#first);
  }

  push(item: Waiting): void {
    this.#items.push(item);
  }

  shift(): Waiting | undefined {
    const { head } = this;
    if (head === undefined) return undefined;
    this.#first += 1;
    if (this.#first === this.#items.length) [this.#items, this.#first] = [[], 0];
    return head;
  }
}
