import { animationFrames, defer, EMPTY, map, race, tap, throttle, timer } from 'rxjs';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { clampTimer } from '../http/retry.js';
import type { AnyContract } from './Contract.js';
import { type ContractsChanged, differenceOf, type Reset } from './ContractChange.js';
import type { ContractSet } from './ContractSet.js';
import { type LiveContracts, toLiveContracts } from './liveContracts.js';
import type { ContractsBatch } from './ContractChange.js';

/** The period of `'animationFrame'` if the platform has no frames, in milliseconds. */
const frameMs = 16;

/** How long to wait for a frame, in milliseconds. A browser has no frames while the page is hidden. */
const maxFrameMs = 1_000;

/**
 * Returns the same view with fewer values, for user interfaces: it emits the first value immediately, and then at most one
 * per period, the latest. Each subscription has its own periods; all share the snapshot and the feed of the view.
 *
 * The changes of a period are merged into one `ContractsChanged` with the offset, ID and record time of the last
 * update. A contract that was both added and removed in the period is left out; a contract that was moved several times
 * is moved once; and one that was removed has the value that it had before the period. If the period contains a `Reset`, only the `Reset` is emitted. An error is emitted immediately, without
 * the changes of the period.
 *
 * @param view - a view from `liveContracts`
 * @param period - the period in milliseconds, or `'animationFrame'`, which is 16 ms if there is no
 * `requestAnimationFrame`. While a page is hidden its browser has no frames: the period is then a second, or as long as
 * the browser delays timers
 * @throws TypeError if the period is not positive
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { conflate, liveContracts } from 'canton-rx/contracts';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const view = conflate(liveContracts(ledger, { parties: 'any' }), 'animationFrame');
 * const drawing = view.all$().subscribe((contracts) => {
 *   console.log(contracts.length); // at most once per frame
 * });
 * drawing.unsubscribe();
 * ```
 *
 * @category Contracts
 */
export function conflate<C extends AnyContract>(
  view: LiveContracts<C>,
  period: number | 'animationFrame',
): LiveContracts<C> {
  const { view$, parties } = view;
  const periodMs = period === 'animationFrame' ? frameMs : period;
  checkPositive({ period: periodMs });
  const hasFrames = period === 'animationFrame' && 'requestAnimationFrame' in globalThis;
  return toLiveContracts(
    defer(() => {
      const merger = new Merger<C>();
      const period$ = hasFrames ? race(animationFrames(), timer(maxFrameMs)) : timer(clampTimer(periodMs));
      return view$.pipe(
        tap(({ known }) => {
          merger.add(known);
        }),
        // the first contracts do not wait
        throttle(({ known }) => (known === undefined ? EMPTY : period$), { leading: true, trailing: true }),
        map(({ known, ...rest }) => (known === undefined ? rest : { ...rest, known: merger.take(known) })),
      );
    }),
    parties,
  );
}

/** Merges the steps of a period. Holds the IDs of the contracts that they change. */
class Merger<C extends AnyContract> {
  /** The contracts before the period. */
  #before: ContractSet<C> | undefined;
  readonly #changedIds = new Set<string>();
  /** The step that was added last. */
  #added: ContractsBatch<C> | undefined;
  /** The last result, which stays the same until a step is added. */
  #taken: ContractsBatch<C> | undefined;
  #reset: Reset<C> | undefined;
  #changed: ContractsChanged<C> | undefined;
  #checkpoint: OffsetCheckpoint | undefined;
  /** The parties that were selected last in the period, if others were. */
  #parties: ContractsBatch<C>['parties'];
  /** Whether the feed has continued at other offsets in the period. */
  #isMoved = false;

  /** Adds a step, unless it is the one that was added last. */
  add(known: ContractsBatch<C> | undefined): void {
    if (known === this.#added) return;
    this.#added = known;
    this.#taken = undefined;
    this.#parties = known?.parties ?? this.#parties;
    this.#isMoved ||= known?.isMoved === true;
    for (const change of known?.items ?? []) {
      // a later change covers its offset
      this.#checkpoint = change._tag === 'OffsetCheckpoint' ? change : undefined;
      // that they are of another ledger is said whatever comes after it
      if (change._tag === 'Reset' && this.#reset?.reason !== 'ledgerReset') this.#reset = change;
      if (change._tag !== 'ContractsChanged') continue;
      const { added, removed, moved } = change;
      this.#changed = change;
      for (const { contractId } of [...removed, ...added]) this.#changedIds.add(contractId);
      for (const { contract } of moved) this.#changedIds.add(contract.contractId);
    }
  }

  /** Returns the steps since the last result as one step. */
  take(known: ContractsBatch<C>): ContractsBatch<C> {
    if (this.#taken !== undefined) return this.#taken;
    const changed = this.#reset === undefined ? this.#toChanged(known) : resetTo(this.#reset, known);
    const items = [changed, this.#checkpoint].filter((change) => change !== undefined);
    this.#taken = { ...known, items, parties: this.#parties, isMoved: this.#isMoved };
    this.#before = known.contracts;
    this.#changedIds.clear();
    this.#reset = this.#changed = this.#checkpoint = this.#parties = undefined;
    this.#isMoved = false;
    return this.#taken;
  }

  #toChanged({ contracts }: ContractsBatch<C>): ContractsChanged<C> | OffsetCheckpoint | undefined {
    if (this.#changed === undefined) return undefined;
    const { offset } = this.#changed;
    const difference = differenceOf(this.#changedIds, this.#before ?? new Map<string, C>(), contracts);
    if (Object.values(difference).some(({ length }) => length > 0)) return { ...this.#changed, ...difference };
    return this.#checkpoint === undefined ? { _tag: 'OffsetCheckpoint', offset, synchronizerTimes: [] } : undefined;
  }
}

/** Returns a reset with what came after it in its period. */
const resetTo = <C extends AnyContract>({ reason }: Reset<C>, { contracts, offset }: ContractsBatch<C>): Reset<C> => ({
  _tag: 'Reset',
  ...{ reason, offset, contracts: contracts.toArray() },
});
