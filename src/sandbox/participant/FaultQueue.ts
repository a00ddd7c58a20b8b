import { checkNotNegative } from '../../codecs/internal/numbers.js';
import type { Fault, FaultScope } from '../faults/Fault.js';

/** The queued faults. */
export class FaultQueue {
  readonly #queue: QueuedFault[] = [];

  add(fault: Fault, { path, after = 0, times = 1 }: FaultScope = {}): void {
    checkNotNegative({ after, times });
    if ('ms' in fault) checkNotNegative({ ms: fault.ms });
    if ('bytes' in fault) checkNotNegative({ bytes: fault.bytes });
    if ('elements' in fault) checkNotNegative({ elements: fault.elements });
    this.#queue.push({ fault, path, after, remaining: times });
  }

  /** Takes the first fault that is due for a path, and counts the request for the faults that are not due yet. */
  take(path: string, target: 'request' | 'upgrade' = 'request'): Fault | undefined {
    const candidates = this.#queue.filter(
      ({ path: pattern, fault }) => matchesPath(path, pattern) && appliesTo[target](fault),
    );
    const entry = candidates.find(({ after }) => after <= 0);
    for (const waiting of candidates) waiting.after -= 1;
    if (entry === undefined) return undefined;
    entry.remaining -= 1;
    if (entry.remaining <= 0) this.#queue.splice(this.#queue.indexOf(entry), 1);
    return entry.fault;
  }
}

interface QueuedFault {
  readonly fault: Fault;
  readonly path: string | RegExp | undefined;
  after: number;
  remaining: number;
}

const upgradeKinds = new Set<Fault['kind']>(['status', 'reset', 'hang', 'rewrite']);

const appliesTo = {
  request: ({ kind }: Fault) => kind !== 'socket',
  upgrade: ({ kind }: Fault) => kind === 'socket' || upgradeKinds.has(kind),
};

function matchesPath(path: string, pattern: string | RegExp | undefined): boolean {
  if (pattern === undefined || typeof pattern === 'string') return pattern === undefined || pattern === path;
  // unlike test(), search() has no state in a global pattern
  return path.search(pattern) >= 0;
}
