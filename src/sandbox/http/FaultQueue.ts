import type { Fault, FaultScope } from '../Fault.js';

interface Entry {
  readonly fault: Fault;
  readonly path: string | RegExp | undefined;
  after: number;
  left: number;
}

const ofBoth = new Set<Fault['kind']>(['status', 'reset', 'hang', 'rewrite']);

const harms = {
  request: ({ kind }: Fault) => kind !== 'socket',
  upgrade: ({ kind }: Fault) => kind === 'socket' || ofBoth.has(kind),
};

/** The faults to come. */
export class FaultQueue {
  readonly #queue: Entry[] = [];

  add(fault: Fault, { path, after = 0, times = 1 }: FaultScope = {}): void {
    this.#queue.push({ fault, path, after, left: times });
  }

  /** Uses up the first due fault that is for a path; those not due yet let one more pass. */
  take(path: string, what: 'request' | 'upgrade' = 'request'): Fault | undefined {
    const concerned = this.#queue.filter(({ path: wanted, fault }) => isFor(path, wanted) && harms[what](fault));
    const entry = concerned.find(({ after }) => after <= 0);
    for (const waiting of concerned) waiting.after -= 1;
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left <= 0) this.#queue.splice(this.#queue.indexOf(entry), 1);
    return entry.fault;
  }
}

function isFor(path: string, wanted: string | RegExp | undefined): boolean {
  if (wanted === undefined || typeof wanted === 'string') return wanted === undefined || wanted === path;
  // search, unlike test, keeps no state in a global pattern
  return path.search(wanted) >= 0;
}
