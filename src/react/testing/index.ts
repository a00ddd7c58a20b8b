/**
 * Contracts for component tests, which the test creates, moves and archives, and whose connection it breaks. Needs the
 * same packages as `canton-rx/react`, and runs in browsers and in Node.js, without a network.
 *
 * @module canton-rx/react/testing
 */

import { createElement, type FunctionComponent, useMemo } from 'react';
import { type ContractsTestingController, unservedLedger } from '../../contracts/ContractsTestingController.js';
import { createLedger } from '../../ledger/createLedger.js';
import { LedgerContext, type LedgerProviderProps } from '../LedgerProvider.js';

export { ContractsTestingController, type TestContractOptions } from '../../contracts/ContractsTestingController.js';

/**
 * The properties of {@link TestLedgerProvider}.
 *
 * @category Testing
 */
export interface TestLedgerProviderProps extends Pick<LedgerProviderProps, 'parties' | 'children'> {
  /** The contracts that the components show. */
  readonly contracts: ContractsTestingController;
  /** The ledger to which they submit. Default: one that answers every request with an error, status 404. */
  readonly ledger?: LedgerProviderProps['ledger'] | undefined;
}

/**
 * A `LedgerProvider` for tests, whose contracts come from the test. Components show each change immediately instead of with
 * the next frame: change contracts within `act`.
 *
 * @example
 * ```ts
 * import { contractType } from 'canton-rx';
 * import { useContracts } from 'canton-rx/react';
 * import { ContractsTestingController, TestLedgerProvider } from 'canton-rx/react/testing';
 * import { createElement } from 'react';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const Count = () => useContracts({ types: { iou: Iou }, parties: 'any' }).contracts.length;
 *
 * const contracts = new ContractsTestingController();
 * // in JSX: <TestLedgerProvider contracts={contracts}><Count /></TestLedgerProvider>
 * const tested = createElement(TestLedgerProvider, { contracts }, createElement(Count));
 * contracts.create(Iou, { owner: 'alice::1220ab', amount: '10.0' }); // within act(), once it is rendered
 * ```
 *
 * @category Testing
 */
export const TestLedgerProvider: FunctionComponent<TestLedgerProviderProps> = ({
  contracts: { shared },
  ledger = unserved,
  parties = 'any',
  children,
}) => {
  const value = useMemo(() => ({ ledger, parties, shared, isConflated: false }), [ledger, parties, shared]);
  return createElement(LedgerContext.Provider, { value }, children);
};

const unserved = createLedger(unservedLedger);
