import type { Int64 } from '../codecs/scalars.js';
import type { AnyContract } from './Contract.js';

/**
 * The known state of one contract on all synchronizers. A participant sees the updates of one synchronizer in order, but those of
 * one may be ahead of those of another.
 */
export interface Trace<C extends AnyContract> {
  /** The contract on each synchronizer where it is active, at most once each, in the order of observation. */
  readonly active: readonly C[];
  /** Reassignments of which only the assignment or the unassignment has been seen. */
  readonly halves: readonly Half<C>[];
  /**
   * The synchronizer that archived the contract. Updates that arrive late from other synchronizers must not revive it.
   */
  readonly spentOn?: string | undefined;
}

/** A contract of which nothing is known. */
export const noTrace: Trace<never> = { active: [], halves: [] };

/** One side of a reassignment: the assignment or the unassignment. */
interface Half<C extends AnyContract> {
  readonly isAssigned: boolean;
  /** The same for both sides. */
  readonly counter: Int64;
  readonly source: string;
  readonly target: string;
  /** The contract in flight, for an unassignment from a synchronizer where the contract was active. */
  readonly inFlight?: C | undefined;
}

/** Whether nothing is known of the contract: it was never here, or all of its events have been seen. */
export const isUnknown = ({ active, halves, spentOn }: Trace<AnyContract>): boolean =>
  active.length === 0 && halves.length === 0 && spentOn === undefined;

/** Returns a trace with other objects for its contract. */
export const inEach = <C extends AnyContract>(trace: Trace<C>, replace: (contract: C) => C): Trace<C> => ({
  ...trace,
  active: trace.active.map(replace),
  halves: trace.halves.map((half) => (half.inFlight ? { ...half, inFlight: replace(half.inFlight) } : half)),
});

/** Returns the contract at its last location, by reassignment counter; `undefined` if it is spent. */
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
    // it was assigned but is no longer active on the target: spent
    last = half.inFlight;
    counter = half.counter;
  }
  return last;
}

/** Whether no later update can contradict what is visible of the contract. */
export const isComplete = <C extends AnyContract>({ active, halves, spentOn }: Trace<C>): boolean =>
  halves.length === 0 && active.length <= (spentOn === undefined ? 1 : 0);

/** Returns the synchronizers from which something of the contract is still to come. */
export const awaitedFrom = <C extends AnyContract>({ halves }: Trace<C>): readonly string[] =>
  halves.map(({ isAssigned, source, target }) => (isAssigned ? source : target));

/** Makes the contract active on a synchronizer. */
export function activate<C extends AnyContract>(trace: Trace<C>, contract: C, synchronizerId: string): Trace<C> {
  const known = activeOn(trace, synchronizerId);
  if (known?.reassignmentCounter === contract.reassignmentCounter) return trace;
  // the updates of a synchronizer are in order: this one is not late but a repair, which starts over
  const isAnew =
    trace.spentOn === synchronizerId || (known && known.reassignmentCounter > contract.reassignmentCounter);
  if (isAnew) return { active: [contract], halves: [] };
  const { active, halves, spentOn } = leave(trace, synchronizerId);
  return { active: [...active, contract], halves, spentOn };
}

/** Returns the contract as it is active on a synchronizer. */
export const activeOn = <C extends AnyContract>({ active }: Trace<C>, synchronizerId: string): C | undefined =>
  active.find(({ location }) => 'synchronizerId' in location && location.synchronizerId === synchronizerId);

/** Makes the contract inactive on a synchronizer. */
export function leave<C extends AnyContract>(trace: Trace<C>, synchronizerId: string): Trace<C> {
  const left = activeOn(trace, synchronizerId);
  return left === undefined ? trace : { ...trace, active: trace.active.filter((contract) => contract !== left) };
}

/**
 * Records one side of a reassignment. Once both sides have been seen, they add nothing to where the contract is active.
 */
export function pair<C extends AnyContract>(trace: Trace<C>, half: Half<C>): Trace<C> {
  const same = trace.halves.find(({ counter }) => counter === half.counter);
  const halves = trace.halves.filter((other) => other !== same);
  if (same && same.isAssigned !== half.isAssigned) return { ...trace, halves };
  // an unassignment from a synchronizer where the contract was not active is foreign
  return half.isAssigned || half.inFlight ? { ...trace, halves: [...halves, half] } : trace;
}

/**
 * Records that the contract was archived. It is spent everywhere, but still active where its unassignment has not been
 * seen.
 */
export function archive<C extends AnyContract>(trace: Trace<C>, spentOn: string): Trace<C> {
  const last = lastOf(trace);
  const { active, halves } = leave(trace, spentOn);
  return { active: active.filter((contract) => contract !== last), halves, spentOn };
}
