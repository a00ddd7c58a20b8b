/** After how many pages without a refusal a larger one is tried, at least and at most. */
const minPatience = 4;
const maxPatience = 128;

/**
 * The maximum number of elements in a page: how many elements the participant and the client can take at once, which depends
 * on how large the elements are.
 *
 * A refusal halves it. It doubles again once pages of this limit have arrived without a refusal, for the large elements may
 * be over: one request tries twice as many, while the others keep to the limit. Each refusal of what has grown doubles the
 * number of pages before the next try, so that a ledger of large elements gets few refused requests; growing twice in a row
 * halves it.
 */
export class PageLimit {
  #limit = Infinity;
  /** The limit of the request that tries more; `undefined` if there is none. */
  #tried: number | undefined;
  /** How many pages have arrived since the last try or refusal. */
  #pages = 0;
  #patience = minPatience;
  /** Whether the limit has grown since the last refusal. */
  #hasGrown = false;

  /** The limit that is proven; `Infinity` until a page was refused. */
  get proven(): number {
    return this.#limit;
  }

  /** The limit that a request of as many elements as possible would have now. */
  get next(): number {
    return this.#pages < this.#patience ? this.#limit : 2 * this.#limit;
  }

  /** Returns the limit for a request of at most `wanted` elements. If it is a try, the next request is none. */
  take(wanted: number): number {
    const limit = Math.min(wanted, this.next);
    if (limit > this.#limit) {
      this.#tried = limit;
      this.#pages = 0;
    }
    return limit;
  }

  /** Records a page of `count` elements. Returns whether the limit has grown: a try with less than the limit proves nothing. */
  arrived(limit: number, count: number): boolean {
    if (limit !== this.#tried || count <= this.#limit) {
      // a page that is nearly empty does not show that a full one would have arrived
      if (4 * count >= this.#limit) this.#pages += 1;
      return false;
    }
    this.#limit = limit;
    this.#tried = undefined;
    this.#pages = 0;
    if (this.#hasGrown) this.#patience = Math.max(minPatience, this.#patience / 2);
    this.#hasGrown = true;
    return true;
  }

  /** Records that a page of `limit` elements was refused. Returns whether the limit has shrunk: the smallest refusal counts. */
  refused(limit: number): boolean {
    if (this.#hasGrown || limit === this.#tried) this.#patience = Math.min(maxPatience, 2 * this.#patience);
    this.#hasGrown = false;
    this.#tried = undefined;
    this.#pages = 0;
    const smaller = Math.max(1, Math.floor(limit / 2));
    if (smaller >= this.#limit) return false;
    this.#limit = smaller;
    return true;
  }
}
