/** An item and when it is due, in milliseconds since the epoch. */
interface Place<A> {
  readonly item: A;
  readonly at: number;
}

/** Items in the order in which they are due. Each has one place. */
export class DueQueue<A> {
  /** Ascending. The places before `#head` are taken. */
  #list: Place<A>[] = [];
  #head = 0;
  /** The valid place of each item. Its earlier places are skipped. */
  readonly #places = new Map<A, Place<A>>();

  get size(): number {
    return this.#places.size;
  }

  /** The time of the first item; `Infinity` if there is none. */
  get nextAt(): number {
    return this.#first()?.at ?? Infinity;
  }

  /** Adds an item, or changes its time. Almost all items are due later than those before them, so that little is moved. */
  add(item: A, at: number): void {
    const place = { item, at };
    this.#places.set(item, place);
    let low = this.#head;
    for (let high = this.#list.length; low < high;) {
      const middle = (low + high) >>> 1;
      if ((this.#list[middle]?.at ?? Infinity) <= at) low = middle + 1;
      else high = middle;
    }
    this.#list.splice(low, 0, place);
    // places that are taken or skipped must not pile up
    if (this.#list.length > 2 * this.#places.size + 1_000) {
      this.#list = this.#list.filter((valid) => this.#places.get(valid.item) === valid);
      this.#head = 0;
    }
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

  /** Whether an item is due. */
  isDue(item: A, now: number): boolean {
    return (this.#places.get(item)?.at ?? Infinity) <= now;
  }

  /** The number of items that are due. */
  countDue(now: number): number {
    return [...this.#places.keys()].filter((item) => this.isDue(item, now)).length;
  }

  #first(): Place<A> | undefined {
    for (; this.#head < this.#list.length; this.#head += 1) {
      const first = this.#list[this.#head];
      if (first !== undefined && this.#places.get(first.item) === first) return first;
    }
    return undefined;
  }
}
