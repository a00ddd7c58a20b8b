import type { Int64 } from '../codecs/scalars.js';
import type { AnyContract } from './Contract.js';

/** What is known of one contract on all synchronizers. */
export interface Trace<C extends AnyContract> {
  /** The contract where it is active, in the order in which that was seen: at most once for each synchronizer. */
  readonly active: readonly C[];
  /** Reassignments of which only one half was seen. */
  readonly halves: readonly Half<C>[];
  /** The synchronizer that archived the contract. What others have not yet sent must not revive it. */
  readonly spentOn?: string | undefined;
}

/** One half of a reassignment: the assignment, or the unassignment. */
interface Half<C extends AnyContract> {
  readonly isAssigned: boolean;
  /** Both halves have the same. */
  readonly counter: Int64;
  readonly target: string;
  /** The contract in flight, if it is the unassignment, and the contract was active on the source. */
  readonly inFlight?: C | undefined;
}

/** The contract where it was last, by its reassignment counter; `undefined` if it is spent. */
export function lastOf<C extends AnyContract>({ active, halves, spentOn }: Trace<C>): C | undefined {
  let last: C | undefined;
  let counter = -Infinity;
  for (const contract of spentOn === undefined ? active : []) {
    if (contract.reassignmentCounter < counter) continue;
    last = contract;
    counter = contract.reassignmentCounter;
  }
  for (const half of spentOn === undefined ? halves : []) {
    if (half.counter <= counter) continue;
    // it was assigned, but is no longer active on the target: spent
    last = half.inFlight;
    counter = half.counter;
  }
  return last;
}

/** Whether nothing that is still to come can contradict what is visible of the contract. */
export const isComplete = <C extends AnyContract>({ active, halves, spentOn }: Trace<C>): boolean =>
  halves.length === 0 && active.length <= (spentOn === undefined ? 1 : 0);

/** The contract becomes active on a synchronizer. */
export function activate<C extends AnyContract>(trace: Trace<C>, contract: C, synchronizerId: string): Trace<C> {
  const known = activeOn(trace, synchronizerId);
  if (known?.reassignmentCounter === contract.reassignmentCounter) return trace;
  // a synchronizer's updates are in order: this is no late one, but a repair, which starts again
  const isAnew =
    trace.spentOn === synchronizerId || (known && known.reassignmentCounter > contract.reassignmentCounter);
  if (isAnew) return { active: [contract], halves: [] };
  const { active, halves, spentOn } = leave(trace, synchronizerId);
  return { active: [...active, contract], halves, spentOn };
}

/** The contract where it is active on a synchronizer. */
export const activeOn = <C extends AnyContract>({ active }: Trace<C>, synchronizerId: string): C | undefined =>
  active.find(({ location }) => 'synchronizerId' in location && location.synchronizerId === synchronizerId);

/** The contract is no longer active on a synchronizer. */
export function leave<C extends AnyContract>(trace: Trace<C>, synchronizerId: string): Trace<C> {
  const left = activeOn(trace, synchronizerId);
  return left === undefined ? trace : { ...trace, active: trace.active.filter((contract) => contract !== left) };
}

/** One half of a reassignment was seen. Once both were, neither says more than where the contract is active. */
export function pair<C extends AnyContract>(trace: Trace<C>, half: Half<C>): Trace<C> {
  const same = trace.halves.find(({ counter }) => counter === half.counter);
  const halves = trace.halves.filter((other) => other !== same);
  if (same && same.isAssigned !== half.isAssigned) return { ...trace, halves };
  // an unassignment from where the contract was not active is foreign
  return half.isAssigned || half.inFlight ? { ...trace, halves: [...halves, half] } : trace;
}

/** The contract was archived. It is spent everywhere, but still active where its unassignment was not yet seen. */
export function archive<C extends AnyContract>(trace: Trace<C>, spentOn: string): Trace<C> {
  const last = lastOf(trace);
  const { active, halves } = leave(trace, spentOn);
  return { active: active.filter((contract) => contract !== last), halves, spentOn };
}
