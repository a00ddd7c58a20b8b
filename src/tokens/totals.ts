import { map, type OperatorFunction } from 'rxjs';
import type { Contract, UndecodedContract } from '../contracts/Contract.js';
import { type Amount, textOf, unitsOf } from './decimals.js';

/**
 * Identifies an instrument. The same `id` of another `admin` is another instrument.
 *
 * @category Tokens
 */
export interface InstrumentId {
  /** The party that administers the instrument. */
  readonly admin: string;
  /** The name of the instrument with this party. */
  readonly id: string;
}

/**
 * An amount of an instrument: the view of a holding, a transfer, a leg of a settlement.
 *
 * @category Tokens
 */
export interface TokenAmount {
  /** The instrument. */
  readonly instrumentId: InstrumentId;
  /** How much of it, as a decimal. */
  readonly amount: string;
}

/**
 * The exact sum of the amounts of one instrument. It is itself a {@link TokenAmount}, so that totals can be added.
 *
 * @category Tokens
 */
export interface InstrumentTotal extends TokenAmount {
  /** The sum. */
  readonly amount: Amount;
  /** The number of amounts in it. */
  readonly count: number;
}

/**
 * The totals of holdings, as {@link toTotals} emits them.
 *
 * @category Tokens
 */
export interface HoldingTotals {
  /** The total of each instrument, by its admin and its id. */
  readonly totals: readonly InstrumentTotal[];
  /** The number of contracts that could not be decoded. Their amounts are in no total: if it is not zero, say so. */
  readonly undecoded: number;
}

/**
 * Adds amounts exactly, each instrument apart from the others.
 *
 * @returns the totals, by admin and id
 * @throws TypeError for an amount that is not a decimal
 * @example
 * ```ts
 * import { groupTotals } from 'canton-rx/tokens';
 *
 * const [gold, silver] = ['Gold', 'Silver'].map((id) => ({ admin: 'bank::1220ab', id })) as [Id, Id];
 * type Id = { admin: string; id: string };
 * const totals = groupTotals([
 *   { instrumentId: gold, amount: '0.1' },
 *   { instrumentId: silver, amount: '5.0' },
 *   { instrumentId: gold, amount: '0.2' },
 * ]);
 * console.log(totals.map(({ instrumentId, amount, count }) => `${count} of ${instrumentId.id}: ${amount}`));
 * // => [ '2 of Gold: 0.3', '1 of Silver: 5.0' ]
 * ```
 * @category Tokens
 */
export function groupTotals(amounts: Iterable<TokenAmount>): readonly InstrumentTotal[] {
  const groups = new Map<string, { readonly instrumentId: InstrumentId; units: bigint; count: number }>();
  for (const { instrumentId, amount } of amounts) {
    const { admin, id } = instrumentId;
    const key = JSON.stringify([admin, id]);
    const group = groups.get(key) ?? { instrumentId: { admin, id }, units: 0n, count: 0 };
    group.units += unitsOf(amount);
    group.count += 1;
    groups.set(key, group);
  }
  return [...groups.values()]
    .sort(
      ({ instrumentId: one }, { instrumentId: other }) => compare(one.admin, other.admin) || compare(one.id, other.id),
    )
    .map(({ instrumentId, units, count }) => ({ instrumentId, amount: textOf(units) as Amount, count }));
}

/**
 * Adds the amounts of one instrument exactly, and leaves out those of others.
 *
 * @returns the sum; `'0.0'` if there is none
 * @throws TypeError for an amount that is not a decimal
 * @example
 * ```ts
 * import { totalOf } from 'canton-rx/tokens';
 *
 * const gold = { admin: 'bank::1220ab', id: 'Gold' };
 * console.log(totalOf(gold, [{ instrumentId: gold, amount: '1.5' }]));
 * // => 1.5
 * ```
 * @category Tokens
 */
export function totalOf(instrumentId: InstrumentId, amounts: Iterable<TokenAmount>): Amount {
  let units = 0n;
  for (const each of amounts) if (isSameInstrument(each.instrumentId, instrumentId)) units += unitsOf(each.amount);
  return textOf(units) as Amount;
}

/**
 * Whether two ids are those of the same instrument.
 *
 * @example
 * ```ts
 * import { isSameInstrument } from 'canton-rx/tokens';
 *
 * console.log(isSameInstrument({ admin: 'bank::1220ab', id: 'Gold' }, { admin: 'bank::1220cd', id: 'Gold' }));
 * // => false
 * ```
 * @category Tokens
 */
export const isSameInstrument = (one: InstrumentId, other: InstrumentId): boolean =>
  one.admin === other.admin && one.id === other.id;

/**
 * A contract with an amount, or one that cannot be decoded.
 *
 * @inline
 */
type HoldingContract<T> = Contract<string, T> | UndecodedContract;

/**
 * Operator for the contracts of a live view, such as `all$()` and `select$(…)`: emits the exact total of each instrument.
 *
 * @throws TypeError, as an error of the result, for an amount that is not a decimal
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { liveContracts } from 'canton-rx/contracts';
 * import { Holding, toTotals } from 'canton-rx/tokens';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const holdings = liveContracts(ledger, { types: { holding: Holding }, parties: ['alice::1220ab'] });
 *
 * export const spendable$ = holdings.select$(({ payload }) => payload?.lock === null).pipe(toTotals());
 * ```
 * @category Tokens
 */
export function toTotals(): OperatorFunction<readonly HoldingContract<TokenAmount>[], HoldingTotals>;
/**
 * The same for contracts of other types.
 *
 * @param amountOf - returns the amount of a contract
 */
export function toTotals<T>(
  amountOf: (contract: Contract<string, T>) => TokenAmount,
): OperatorFunction<readonly HoldingContract<T>[], HoldingTotals>;
export function toTotals(
  amountOf: (contract: Contract<string, TokenAmount>) => TokenAmount = ({ payload }) => payload,
): OperatorFunction<readonly HoldingContract<TokenAmount>[], HoldingTotals> {
  return map((contracts) => {
    const decoded = contracts.filter((contract) => contract._tag === 'Contract');
    return { totals: groupTotals(decoded.map(amountOf)), undecoded: contracts.length - decoded.length };
  });
}

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other);
