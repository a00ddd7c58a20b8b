/** An item and when it is due, in milliseconds since the epoch. */
interface Place<A> {
  readonly item: A;
  readonly at: number;
  /** Of places that are due at the same time, the earlier one comes first. */
  readonly number: number;
}

/** Items in the order in which they are due. Each has one place. */
export class DueQueue<A> {
  /** A binary heap: no place comes before that at half its index. */
  #heap: Place<A>[] = [];
  /** The valid place of each item. Its other places in the heap are skipped. */
  readonly #places = new Map<A, Place<A>>();
  #count = 0;

  get size(): number {
    return this.#places.size;
  }

  /** The time of the first item; `Infinity` if there is none. */
  get nextAt(): number {
    return this.#first()?.at ?? Infinity;
  }

  /** Adds an item, or changes its time. */
  add(item: A, at: number): void {
    if (this.timeOf(item) === at) return;
    const place = { item, at, number: (this.#count += 1) };
    this.#places.set(item, place);
    this.#heap.push(place);
    this.#rise(this.#heap.length - 1, place);
    // places that are not valid must not pile up
    if (this.#heap.length > 2 * this.#places.size + 1_000) this.#heap = [...this.#places.values()].sort(compare);
  }

  remove(item: A): void {
    this.#places.delete(item);
  }

  /** Removes and returns the first item that is due; `undefined` if none is. */
  take(now: number): A | undefined {
    const first = this.#first();
    if (first === undefined || first.at > now) return undefined;
    this.remove(first.item);
    return first.item;
  }

  /** When an item is due; `undefined` if it has no place. */
  timeOf(item: A): number | undefined {
    return this.#places.get(item)?.at;
  }

  /** The items and when they are due, in no order. */
  times(): (readonly [item: A, at: number])[] {
    return [...this.#places.values()].map(({ item, at }) => [item, at]);
  }

  /** The number of items that are due. */
  countDue(now: number): number {
    return [...this.#places.values()].filter(({ at }) => at <= now).length;
  }

  #first(): Place<A> | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || this.#places.get(first.item) === first) return first;
      this.#dropFirst();
    }
  }

  #dropFirst(): void {
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
  }

  /** Moves a place from an index towards the start. */
  #rise(index: number, place: Place<A>): void {
    let at = index;
    while (at > 0) {
      const parentAt = (at - 1) >>> 1;
      const parent = this.#heap[parentAt];
      if (parent === undefined || compare(parent, place) <= 0) break;
      this.#heap[at] = parent;
      at = parentAt;
    }
    this.#heap[at] = place;
  }

  /** Moves a place from the start towards the end. */
  #sink(place: Place<A>): void {
    let at = 0;
    for (;;) {
      const [left, right] = [this.#heap[2 * at + 1], this.#heap[2 * at + 2]];
      const isRight = left !== undefined && right !== undefined && compare(right, left) < 0;
      const child = isRight ? right : left;
      if (child === undefined || compare(place, child) <= 0) break;
      this.#heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    this.#heap[at] = place;
  }
}

const compare = (a: Place<unknown>, b: Place<unknown>): number => a.at - b.at || a.number - b.number;
