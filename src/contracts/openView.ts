import { filter, type Observable } from 'rxjs';
import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Diagnostic, WorkName } from '../diagnostics/Diagnostic.js';
import { reportOf, reportWithout } from '../client/Client.js';
import { reportEnd } from '../feed/updates.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { AnyContract, ContractOf, ContractTypes } from './Contract.js';
import type { ContractsBatch } from './ContractChange.js';
import {
  type ContractPolicies,
  type ContractQuery,
  type ContractsOptions,
  type ContractsSource,
  readFrom,
  checkQuery,
  copyOf,
} from './ContractQuery.js';
import type { ContractSet } from './ContractSet.js';
import { join } from './join.js';
import { type View, viewOf } from './LiveState.js';

/** Contracts that were read before, and where; `'otherLedger'` if another one has taken the place of their ledger. */
export type ContractsHad =
  | 'otherLedger'
  | {
      readonly position: LedgerPosition;
      /** Whether contracts that are read there again are the same. */
      readonly areSame: (contracts: ContractSet) => boolean;
    };

/** How a view is opened for another part of the library. */
interface ViewDetails {
  /** The rule whose view it is, for its diagnostics. */
  readonly name?: WorkName | undefined;
  /** The diagnostics that it does not report. */
  readonly unreported?: readonly Diagnostic['_tag'][] | undefined;
  /** What the subscriber has: it is read again without a `Reset`, unless it is that of another ledger. */
  readonly after?: ContractsHad | undefined;
}

/** Returns a view that is not shared: each subscription begins with a snapshot. Throws for an invalid query. */
export function openView<M extends ContractTypes>(
  ledger: LedgerReader,
  query: ContractQuery<M> & ContractPolicies,
  options: ContractsOptions = {},
  { name, unreported = [], after }: ViewDetails = {},
): Observable<View<ContractOf<M>>> {
  checkQuery(query);
  const own = copyOf(query);
  // an outage of any length must not end the view
  const defaults = { giveUpAfterMs: Infinity };
  const read = (given: ContractsSource): Observable<View<ContractOf<M>>> => {
    const source = { ...given, report: reportWithout(reportOf(given.report, name), ...unreported) };
    const { client, feed } = source;
    const steps$ = join(source, { query: own, ...(after && continuing(after)) }).pipe(
      reportEnd<ContractsBatch<AnyContract>>(source.report),
    );
    return viewOf(
      // the contracts have the types of the query
      steps$ as Observable<ContractsBatch<ContractOf<M>>>,
      client.diagnostics$.pipe(filter((diagnostic) => diagnostic.feed === feed)),
    );
  };
  return readFrom(ledger, options, read, defaults);
}

/** Where to begin after what the subscriber has. */
function continuing(after: ContractsHad) {
  if (after === 'otherLedger') return { reason: 'ledgerReset' } as const;
  const { position, areSame } = after;
  const compare = (contracts: ContractSet) => (areSame(contracts) ? 'same' : 'otherLedger');
  return { resumeFrom: position.offset, position, compare } as const;
}
