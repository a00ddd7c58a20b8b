import { createContext, createElement, type FunctionComponent, type ReactNode, useContext, useMemo } from 'react';
import type { ContractQuery } from '../contracts/ContractQuery.js';
import { shareContracts, type SharedContracts } from '../contracts/shareContracts.js';
import type { Ledger, LedgerReader } from '../ledger/Ledger.js';

/**
 * The properties of {@link LedgerProvider}.
 *
 * @category React
 */
export interface LedgerProviderProps {
  /**
   * The ledger. Create it once, outside components: another ledger means other views. For components that submit nothing, a
   * reader of `createLedgerReader`. Not needed if there are `contracts`, unless components submit.
   */
  readonly ledger?: LedgerReader | undefined;
  /** The parties of all queries that name none. */
  readonly parties?: ContractQuery['parties'] | undefined;
  /**
   * The views of the ledger, from `shareContracts`: to keep them for another time than 30 seconds, or to clear them when
   * a user logs out. Or those of a server, from `shareRemoteContracts` of `canton-rx/sse`. Default: one for each ledger.
   */
  readonly contracts?: SharedContracts | undefined;
  /** The components that use the ledger. */
  readonly children?: ReactNode;
}

/**
 * Provides a ledger to the components below it. Sends no requests.
 *
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { LedgerProvider, useLedger } from 'canton-rx/react';
 * import { createElement } from 'react';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const Page = () => (useLedger() === ledger ? 'connected' : '');
 * // in JSX: <LedgerProvider ledger={ledger}><Page /></LedgerProvider>
 * const App = () => createElement(LedgerProvider, { ledger }, createElement(Page));
 * ```
 *
 * @category React
 */
export const LedgerProvider: FunctionComponent<LedgerProviderProps> = ({ ledger, parties, contracts, children }) => {
  const value = useMemo(
    (): LedgerContextValue => ({ ledger, parties, shared: contracts ?? sharedOf(ledger), isConflated: true }),
    [ledger, parties, contracts],
  );
  return createElement(LedgerContext.Provider, { value }, children);
};

/**
 * Returns the ledger of the nearest {@link LedgerProvider}.
 *
 * @throws Error if there is none, or if it is a reader: it cannot submit
 * @category React
 */
export const useLedger = (): Ledger => useSubmitter('useLedger');

/**
 * Returns the ledger of the nearest provider for a hook that submits.
 *
 * @internal
 */
export function useSubmitter(hook: string): Ledger {
  const { ledger } = useLedgerContext(hook);
  if (ledger === undefined)
    throw new Error(`${hook} needs a <LedgerProvider ledger={ledger}>: contracts cannot submit.`);
  if (!canSubmit(ledger)) throw new Error(`${hook} needs a ledger of createLedger: a reader cannot submit.`);
  return ledger;
}

const canSubmit = (ledger: LedgerReader): ledger is Ledger => 'submitAndWaitForTransaction' in ledger;

/**
 * The value of the context.
 *
 * @internal
 */
interface LedgerContextValue extends Pick<LedgerProviderProps, 'ledger' | 'parties'> {
  readonly shared: SharedContracts;
  /** Whether views change at most once per period, and not immediately as in tests. */
  readonly isConflated: boolean;
}

/** @internal */
export const LedgerContext = createContext<LedgerContextValue | undefined>(undefined);
LedgerContext.displayName = 'Ledger';

/**
 * Returns what the nearest provider provides. Throws an Error that names the hook if there is none.
 *
 * @internal
 */
export function useLedgerContext(hook: string): LedgerContextValue {
  const value = useContext(LedgerContext);
  if (value === undefined) throw new Error(`${hook} needs a <LedgerProvider ledger={ledger}> above the component.`);
  return value;
}

const sharedByLedger = new WeakMap<LedgerReader, SharedContracts>();

/** A ledger keeps its views when its provider is rendered again elsewhere. */
function sharedOf(ledger: LedgerReader | undefined): SharedContracts {
  if (ledger === undefined) throw new Error('<LedgerProvider> needs a ledger, or contracts.');
  const shared = sharedByLedger.get(ledger) ?? shareContracts(ledger);
  sharedByLedger.set(ledger, shared);
  return shared;
}
