import type { Contract, UndecodedContract } from '../contracts/Contract.js';
import { compareDecimals } from './decimals.js';
import type { HoldingView } from './interfaces.js';
import { isSameInstrument, type TokenAmount, totalOf } from './totals.js';

/**
 * What holdings are picked for.
 *
 * @category Tokens
 */
export interface PickRequest extends TokenAmount {
  /** The party that pays. */
  readonly owner: string;
}

/**
 * Options of {@link holdingPicker}.
 *
 * @category Tokens
 */
export interface HoldingPickerOptions {
  /**
   * The maximum number of holdings for one request: a transaction has a maximum size.
   *
   * @defaultValue 100
   */
  readonly maxInputs?: number;
}

/**
 * Picks holdings that pay for something, so that requests at the same time do not pick the same ones.
 *
 * @category Tokens
 */
export interface HoldingPicker {
  /**
   * Picks holdings, and reserves them for a request until they are archived: the smallest holding that is enough, or else the
   * largest ones. Locked holdings, and those reserved for another request, stay. What the same request has reserved before is free
   * again.
   *
   * @param holdings - all holdings of a view: what is not in it counts as archived
   * @param request - what they are for
   * @param reservedFor - identifies the request, such as its command id
   * @returns the ids; `undefined` if the free holdings are not enough
   * @throws TypeError for an amount that is not a decimal
   */
  pick(
    holdings: Iterable<Contract<string, HoldingView> | UndecodedContract>,
    request: PickRequest,
    reservedFor: string,
  ): readonly string[] | undefined;
  /** Frees the holdings of a request that is given up. */
  release(reservedFor: string): void;
}

/**
 * Returns a picker of holdings. Its reservations are in memory: they avoid races of this process with itself, and lag of its view.
 * That nothing is spent twice is up to the ledger.
 *
 * @throws TypeError for an invalid option
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { liveContracts } from 'canton-rx/contracts';
 * import { Holding, holdingPicker } from 'canton-rx/tokens';
 * import { map, take } from 'rxjs';
 *
 * const holdings = liveContracts(createLedger({ baseUrl: 'http://127.0.0.1:7575' }), {
 *   types: { holding: Holding },
 *   parties: ['alice::1220ab'],
 * });
 * const picker = holdingPicker();
 * const payment = { owner: 'alice::1220ab', instrumentId: { admin: 'bank::1220cd', id: 'Gold' }, amount: '4.0' };
 *
 * export const inputs$ = holdings.all$().pipe(
 *   take(1),
 *   map((all) => picker.pick(all, payment, 'payment-1')),
 * );
 * ```
 * @category Tokens
 */
export function holdingPicker({ maxInputs = 100 }: HoldingPickerOptions = {}): HoldingPicker {
  if (!Number.isSafeInteger(maxInputs) || maxInputs < 1) throw new TypeError('maxInputs must be a positive integer');
  /** The request of each reserved holding, by contract id. */
  const reserved = new Map<string, string>();
  const release = (reservedFor: string): void => {
    for (const [id, by] of reserved) if (by === reservedFor) reserved.delete(id);
  };
  return {
    pick: (holdings, { owner, instrumentId, amount }, reservedFor) => {
      // once each: the views of two parties may both have a holding
      const active = new Map(Array.from(holdings, (each) => [each.contractId, each]));
      for (const id of reserved.keys()) if (!active.has(id)) reserved.delete(id);
      release(reservedFor);
      const free = [...active.values()]
        .filter((each) => each._tag === 'Contract')
        .filter(
          ({ payload: { lock, owner: of, instrumentId: other } }) =>
            lock === null && of === owner && isSameInstrument(other, instrumentId),
        )
        .filter(({ contractId }) => !reserved.has(contractId))
        .sort((one, other) => compareDecimals(other.payload.amount, one.payload.amount));
      const enough = free.findLast(({ payload }) => compareDecimals(payload.amount, amount) >= 0);
      const picked = enough ? [enough] : free.slice(0, maxInputs);
      const isEnough = (count: number): boolean =>
        compareDecimals(
          totalOf(
            instrumentId,
            picked.slice(0, count).map(({ payload }) => payload),
          ),
          amount,
        ) >= 0;
      if (picked.length === 0 || !isEnough(picked.length)) return undefined;
      // the fewest of the largest that are enough
      let [tooFew, count] = [0, picked.length];
      while (count - tooFew > 1) {
        const middle = Math.floor((tooFew + count) / 2);
        if (isEnough(middle)) count = middle;
        else tooFew = middle;
      }
      const ids = picked.slice(0, count).map(({ contractId }) => contractId);
      for (const id of ids) reserved.set(id, reservedFor);
      return ids;
    },
    release,
  };
}
