import type { Fault } from '../Fault.js';
import type { FaultScope } from '../Fault.js';

/** The faults to come. */
export class FaultQueue {
  readonly #queue: { readonly fault: Fault; readonly path: string | RegExp | undefined; left: number }[] = [];

  add(fault: Fault, { path, times = 1 }: FaultScope = {}): void {
    this.#queue.push({ fault, path, left: times });
  }

  /** Uses up the first fault that is for a path. */
  take(path: string): Fault | undefined {
    const found = this.#queue.findIndex(({ path: wanted }) => isFor(path, wanted));
    const entry = this.#queue[found];
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left <= 0) this.#queue.splice(found, 1);
    return entry.fault;
  }
}

function isFor(path: string, wanted: string | RegExp | undefined): boolean {
  if (wanted === undefined || typeof wanted === 'string') return wanted === undefined || wanted === path;
  // search, unlike test, keeps no state in a global pattern
  return path.search(wanted) >= 0;
}
