import { animationFrames, defer, EMPTY, map, race, tap, throttle, timer } from 'rxjs';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import { checkPositive } from '../http/retry.js';
import type { AnyContract, ContractLocation } from './Contract.js';
import type { ContractsChanged, Reset } from './ContractChange.js';
import { type LiveContracts, toLiveContracts } from './liveContracts.js';
import type { Known } from './View.js';

/** The period of `'animationFrame'` if the platform has no frames, in milliseconds. */
const frameMs = 16;

/** How long to wait for a frame, in milliseconds. A browser has no frames while the page is hidden. */
const maxFrameMs = 1_000;

/**
 * Returns the same view with fewer values, for user interfaces: it emits the first value at once, and then at most one
 * per period, the latest. Each subscription has its own periods; all share the snapshot and the feed of the view.
 *
 * The changes of a period are merged into one `ContractsChanged` with the offset, ID and record time of the last
 * update. A contract that was both added and removed in the period is left out; a contract that was moved several times
 * is moved once. If the period contains a `Reset`, only the `Reset` is emitted. An error is emitted at once, without
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
  const { view$ } = view;
  const periodMs = period === 'animationFrame' ? frameMs : period;
  checkPositive({ period: periodMs });
  const hasFrames = period === 'animationFrame' && 'requestAnimationFrame' in globalThis;
  return toLiveContracts(
    defer(() => {
      const merger = new Merger<C>();
      const period$ = hasFrames ? race(animationFrames(), timer(maxFrameMs)) : timer(periodMs);
      return view$.pipe(
        tap(({ known }) => {
          merger.add(known);
        }),
        // the first contracts do not wait
        throttle(({ known }) => (known === undefined ? EMPTY : period$), { leading: true, trailing: true }),
        map(({ known, ...rest }) => (known === undefined ? rest : { ...rest, known: merger.take(known) })),
      );
    }),
  );
}

/** The net effect of several changes on a contract. */
interface Net<C> {
  /** Its location before them; `undefined` if the contract was not there. */
  readonly from: ContractLocation | undefined;
  /** The contract after them; its last value if it is no longer there. */
  readonly contract: C;
  readonly isThere: boolean;
}

/** Merges steps. Holds at most one entry for each contract that is or was there. */
class Merger<C extends AnyContract> {
  readonly #nets = new Map<string, Net<C>>();
  /** The step that was added last. */
  #added: Known<C> | undefined;
  /** The last result, which stays the same until a step is added. */
  #taken: Known<C> | undefined;
  #reset: Reset<C> | undefined;
  #changed: ContractsChanged<C> | undefined;
  #checkpoint: OffsetCheckpoint | undefined;

  /** Adds a step, unless it is the one that was added last. */
  add(known: Known<C> | undefined): void {
    if (known === this.#added) return;
    this.#added = known;
    this.#taken = undefined;
    for (const change of known?.changes ?? []) {
      if (change._tag === 'OffsetCheckpoint') {
        this.#checkpoint = change;
        continue;
      }
      // a later change covers its offset
      this.#checkpoint = undefined;
      if (change._tag === 'Reset') {
        this.#clear();
        this.#reset = change;
      } else this.#merge(change);
    }
  }

  /** Returns the steps since the last result as one step. */
  take(known: Known<C>): Known<C> {
    if (this.#taken !== undefined) return this.#taken;
    const changed = this.#reset ?? this.#toChanged();
    const changes = [changed, this.#checkpoint].filter((change) => change !== undefined);
    this.#taken = { ...known, changes };
    this.#clear();
    return this.#taken;
  }

  #clear(): void {
    this.#nets.clear();
    this.#reset = this.#changed = this.#checkpoint = undefined;
  }

  #merge(change: ContractsChanged<C>): void {
    this.#changed = change;
    // the contracts of a reset are those at its end
    if (this.#reset !== undefined) return;
    for (const contract of change.removed) this.#set(contract, contract.location, false);
    for (const contract of change.added) this.#set(contract, undefined, true);
    for (const { contract, from } of change.moved) this.#set(contract, from, true);
  }

  #set(contract: C, before: ContractLocation | undefined, isThere: boolean): void {
    const { contractId } = contract;
    const net = this.#nets.get(contractId);
    const from = net === undefined ? before : net.from;
    if (from === undefined && !isThere) this.#nets.delete(contractId);
    else this.#nets.set(contractId, { from, contract, isThere });
  }

  #toChanged(): ContractsChanged<C> | OffsetCheckpoint | undefined {
    if (this.#changed === undefined) return undefined;
    const { offset } = this.#changed;
    const nets = [...this.#nets.values()];
    if (nets.length === 0)
      return this.#checkpoint === undefined ? { _tag: 'OffsetCheckpoint', offset, synchronizerTimes: [] } : undefined;
    return {
      ...this.#changed,
      added: nets.filter(({ from }) => from === undefined).map(({ contract }) => contract),
      removed: nets.filter(({ isThere }) => !isThere).map(({ contract }) => contract),
      moved: nets.flatMap(({ from, contract, isThere }) => (isThere && from !== undefined ? [{ contract, from }] : [])),
    };
  }
}
