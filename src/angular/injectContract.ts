import { computed, type Signal } from '@angular/core';
import type { ContractType, PayloadOf } from '../codecs/ContractType.js';
import type { AnyContract, ContractOf, ContractTypes } from '../contracts/Contract.js';
import type { ContractPolicies, ContractQuery } from '../contracts/ContractQuery.js';
import type { ContractsResource } from './ContractsResource.js';
import { injectContracts, type InjectContractsOptions } from './injectContracts.js';

/**
 * Options of {@link injectContract}.
 *
 * @category Angular
 */
export interface InjectContractOptions extends Omit<InjectContractsOptions<AnyContract>, 'compare'> {
  /**
   * The parties that see the contract, if a type is given and not a query.
   *
   * @defaultValue 'any', which needs a token that may read as any party
   */
  readonly parties?: ContractQuery['parties'] | undefined;
}

/**
 * A contract as a signal. Created by {@link injectContract}. Its other signals are those of the contracts of its query.
 *
 * @category Angular
 */
export interface ContractResource<C extends AnyContract = AnyContract> extends Pick<
  ContractsResource<C>,
  'status' | 'isLoading' | 'error' | 'reload' | 'offset' | 'isLive' | 'staleSince' | 'connection' | 'after'
> {
  /** The contract. If `isLive()` and it is `undefined`, there is no such contract, or it is archived. */
  readonly value: Signal<C | undefined>;
}

/**
 * Returns a contract as a signal, which changes when the contract does. It reads all contracts of a query: those of the type, or
 * those of a query that other components show. Equal queries share one view. Must be called in an injection context, or with an
 * `injector`.
 *
 * @param typeOrQuery - the type of the contract, or a query that has it
 * @param contractId - the contract ID, or a function that reads signals and returns it; without an ID, the resource is idle
 * @throws Error as {@link injectContracts} does
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { input } from '@angular/core';
 * import { contractType } from 'canton-rx';
 * import { injectContract } from 'canton-rx/angular';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 *
 * class Amount {
 *   readonly contractId = input<string>();
 *   readonly iou = injectContract(Iou, this.contractId, { parties: ['alice::1220ab'] });
 * }
 * ```
 *
 * @category Angular
 */
export function injectContract<T extends ContractType>(
  typeOrQuery: T,
  contractId: string | (() => string | null | undefined),
  options?: InjectContractOptions,
): ContractResource<ContractOf<Readonly<Record<'contract', ContractType<PayloadOf<T>>>>>>;
export function injectContract<M extends ContractTypes>(
  typeOrQuery: ContractQuery<M> & ContractPolicies,
  contractId: string | (() => string | null | undefined),
  options?: Omit<InjectContractOptions, 'parties'>,
): ContractResource<ContractOf<M>>;
export function injectContract(
  typeOrQuery: ContractType | (ContractQuery & ContractPolicies),
  contractId: string | (() => string | null | undefined),
  { parties = 'any', ...options }: InjectContractOptions = {},
): ContractResource {
  const query = 'decoder' in typeOrQuery ? { types: { contract: typeOrQuery }, parties } : typeOrQuery;
  const idOf = (): string | null | undefined => (typeof contractId === 'function' ? contractId() : contractId);
  const { debugName = 'contract' } = options;
  const request = typeof contractId === 'function' ? () => (idOf() == null ? undefined : query) : query;
  const { value: all, ...contracts } = injectContracts<ContractTypes>(request, { ...options, debugName });
  const value = computed(() => all().find((contract) => contract.contractId === idOf()), {
    debugName: `${debugName}.value`,
  });
  return { ...contracts, value };
}
