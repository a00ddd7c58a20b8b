/** The number of paths that are remembered: many more than the API has. */
const maxPaths = 1_000;

/** The paths of the last requests. Some name a user, so that there is no end of them in a service for many users. */
export class RecentPaths {
  /** In the order of their last request. */
  readonly #paths = new Set<string>();

  get isEmpty(): boolean {
    return this.#paths.size === 0;
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** Adds a path as the last one. */
  add(path: string): void {
    this.#paths.delete(path);
    this.#paths.add(path);
    const [oldest] = this.#paths;
    if (this.#paths.size > maxPaths && oldest !== undefined) this.#paths.delete(oldest);
  }
}
