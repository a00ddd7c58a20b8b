import { animationFrames, defer, EMPTY, map, race, tap, throttle, timer } from 'rxjs';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import { checkPositive } from '../http/retry.js';
import type { AnyContract, ContractLocation } from './Contract.js';
import type { ContractsChanged, Reset } from './ContractChange.js';
import { type LiveContracts, toLiveContracts } from './liveContracts.js';
import type { Known } from './View.js';

/** The period of `'animationFrame'` where there are no frames, in milliseconds. */
const frameMs = 16;

/** How long a frame is waited for, in milliseconds. A browser has none while the page is hidden. */
const maxFrameMs = 1_000;

/**
 * The same view with fewer values, for user interfaces: the first at once, and then at most one per period, the latest. Each
 * subscription has periods of its own, and shares the snapshot and the feed of the view.
 *
 * The changes of a period are merged into one `ContractsChanged`, which has the offset, the id and the record time of the last
 * update: a contract that came and went is left out, one that moved several times moved once. After a `Reset` in the period,
 * there is only the `Reset`. An error ends it at once, without the changes of the period.
 *
 * @param view - a view from `liveContracts`
 * @param period - in milliseconds; or `'animationFrame'`, which is 16 ms where there is no `requestAnimationFrame`. While the
 * page is hidden, a browser has no frames: a period is a second then, or as long as the browser delays timers.
 * @throws TypeError for a period that is not positive
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

/** What several changes have done to a contract. */
interface Net<C> {
  /** Where it was before them; `undefined` if it was not there. */
  readonly from: ContractLocation | undefined;
  /** What it is now; the last value if it is not there any more. */
  readonly contract: C;
  readonly isThere: boolean;
}

/** Merges steps. Holds no more than one entry for each contract that is, or was, there. */
class Merger<C extends AnyContract> {
  readonly #nets = new Map<string, Net<C>>();
  /** The last step that was added. */
  #added: Known<C> | undefined;
  /** The last result, which stays the same as long as nothing is added. */
  #taken: Known<C> | undefined;
  #reset: Reset<C> | undefined;
  #changed: ContractsChanged<C> | undefined;
  #checkpoint: OffsetCheckpoint | undefined;

  /** Adds a step, unless it was the last one. */
  add(known: Known<C> | undefined): void {
    if (known === this.#added) return;
    this.#added = known;
    this.#taken = undefined;
    for (const change of known?.changes ?? []) {
      if (change._tag === 'OffsetCheckpoint') {
        this.#checkpoint = change;
        continue;
      }
      // what comes later covers its offset
      this.#checkpoint = undefined;
      if (change._tag === 'Reset') {
        this.#clear();
        this.#reset = change;
      } else this.#merge(change);
    }
  }

  /** The steps that were added since the last result, as one. */
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
