import { defer, isObservable, type Observable } from 'rxjs';
import { isInterfaceType } from '../codecs/ContractType.js';
import { checkDistinct } from '../codecs/decodePayload.js';
import { acsDelta, EventFormat, type UpdateFormat } from '../codecs/UpdateFormat.js';
import type { Party } from '../codecs/scalars.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import type { Transport } from '../feed/LedgerFeed.js';
import type { Client } from '../client/Client.js';
import { interceptFeed } from '../client/intercept.js';
import { checkOptions, type UpdatesOptions } from '../feed/UpdatesOptions.js';
import { validateRequest } from '../client/exchange.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { type CompleteRetryPolicy, retryPolicy, type RetryPolicy } from '../http/retry.js';
import { clientOf, requireBinding } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { ContractTypes } from './Contract.js';

/**
 * The contracts to read: those of the given types of which the given parties are stakeholders.
 *
 * @category Contracts
 */
export interface ContractQuery<M extends ContractTypes = ContractTypes> {
  /**
   * Templates and interfaces, by names of your choice. A contract that matches several types gets the first one.
   * Default: all contracts, with undecoded arguments.
   */
  readonly types?: M | undefined;
  /**
   * The parties, at least one. `'any'` selects every party of the participant and requires a token that may read as any
   * party.
   *
   * With an Observable, such as `partiesOf(ledger)`, the contracts follow its last list: what only the parties of a new list
   * see is added, and what only those of the former list saw is removed, in one change with the reason `'selectionChanged'`.
   * Of the contracts that were there, none is read again. Nothing is known before the first list. Later lists are taken over
   * within about a second, those of one second together, and an empty list sees nothing. An error of the Observable ends the
   * contracts; when it completes, the last list stays.
   */
  readonly parties: readonly Party[] | 'any' | Observable<readonly Party[]>;
  /**
   * Whether created events include the blob for explicit disclosure, which is large.
   *
   * @defaultValue false
   */
  readonly includeCreatedEventBlob?: boolean | undefined;
  /**
   * Whether changes include the exercises of the contracts in `update.events`, even those that archive nothing. An
   * update that only exercises contracts is then a change, too. Snapshots have no exercises.
   *
   * @defaultValue false
   */
  readonly includeExercises?: boolean | undefined;
}

/** A query with the parties that are selected now. */
export interface SelectedQuery<M extends ContractTypes = ContractTypes> extends ContractQuery<M> {
  readonly parties: readonly Party[] | 'any';
}

/**
 * The policies for a query that cannot be served as requested.
 *
 * @category Contracts
 */
export interface ContractPolicies {
  /**
   * The reaction if changes cannot continue without a gap because the ledger was pruned or replaced. `'reload'` reads all
   * contracts again and emits them as a `Reset`. `'fail'` ends with a `PrunedError` or a `LedgerResetError`. The same
   * applies if the caller resumes at an offset at which the participant sends half of a reassignment: `'fail'` then ends
   * with a `DecodeError`.
   *
   * @defaultValue 'reload'
   */
  readonly onGap?: 'reload' | 'fail' | undefined;
  /**
   * The reaction if the participant does not know the package, template or interface of a type. `'fail'` ends with an
   * `ApiError`. `'wait'` reads the contracts of the other types, checks from time to time, and emits a `Reset` once the
   * type is known.
   *
   * @defaultValue 'fail'
   */
  readonly onUnknownPackage?: 'fail' | 'wait' | undefined;
  /**
   * The handling of a contract whose payload cannot be decoded. `'emit'` emits an `UndecodedContract`. `'fail'` ends
   * with a `DecodeError`.
   *
   * @defaultValue 'emit'
   */
  readonly onUndecodable?: 'emit' | 'fail' | undefined;
}

/**
 * Returns the event format of a query, which the snapshot, transactions and reassignments share. Throws a TypeError if
 * there is no list of parties, a template is invalid or two interfaces are ambiguous, and an `InvalidRequestError` for an invalid party.
 */
export function eventFormatOf({ types = {}, parties, includeCreatedEventBlob = false }: SelectedQuery): EventFormat {
  // JavaScript callers may pass a single party
  if (parties !== 'any' && !Array.isArray(parties)) throw new TypeError("parties must be a list, or 'any'");
  const all = Object.values(types);
  checkDistinct(all);
  const { includeReassignments } = acsDelta({
    parties,
    templates: all.filter((type) => !isInterfaceType(type)).map(({ templateId }) => templateId),
    interfaces: all.filter(isInterfaceType).map(({ templateId }) => templateId),
    includeCreatedEventBlob,
    topology: false,
  });
  return validateRequest(EventFormat, includeReassignments);
}

/** Throws the errors of {@link eventFormatOf} for an invalid query. The lists of an Observable are checked when they come. */
export function checkQuery({ parties, ...query }: ContractQuery): void {
  eventFormatOf({ ...query, parties: isObservable(parties) ? 'any' : parties });
}

/** Returns a copy of a query: its caller may change the objects of it later, and a view is known by what it was. */
export function copyOf<Q extends ContractQuery>(query: Q): Q {
  const { types, parties } = query;
  // what is not a list is refused elsewhere
  return { ...query, ...(types && { types: { ...types } }), parties: isList(parties) ? [...parties] : parties };
}

const isList = (u: unknown): u is readonly Party[] => Array.isArray(u);

/** Returns the format of the updates that change the contracts of an event format. */
export const updateFormatOf = (eventFormat: EventFormat, includeExercises = false): UpdateFormat => ({
  includeTransactions: {
    eventFormat,
    transactionShape: includeExercises ? 'TRANSACTION_SHAPE_LEDGER_EFFECTS' : 'TRANSACTION_SHAPE_ACS_DELTA',
  },
  includeReassignments: eventFormat,
});

/**
 * Options for reading contracts.
 *
 * @category Contracts
 */
export interface ContractsOptions {
  /**
   * The maximum number of contracts in a page of a snapshot. If the participant rejects a page as too large or does not
   * respond in time, later pages are smaller.
   *
   * @defaultValue 500
   */
  readonly maxSnapshotPageSize?: number | undefined;
  /** The maximum number of updates per request, as for `ledger.updates`. */
  readonly maxPageSize?: UpdatesOptions['maxPageSize'];
  /** How long a request for new updates waits for one, in milliseconds, as for `ledger.updates`. */
  readonly idleTimeoutMs?: UpdatesOptions['idleTimeoutMs'];
  /**
   * The transport for changes, and for snapshots that the participant serves in no other way. Default: the transport of
   * the ledger.
   */
  readonly transport?: UpdatesOptions['transport'];
  /**
   * The reaction if the address of the ledger leads to another participant that has the same history, as for `ledger.updates`.
   *
   * @defaultValue 'fail'
   */
  readonly onOtherNode?: UpdatesOptions['onOtherNode'];
  /**
   * How to retry after a transient failure. Default: the policy of the ledger. If neither policy has `giveUpAfterMs`,
   * `liveContracts` retries without a time limit.
   */
  readonly retry?: RetryPolicy | undefined;
}

/** A ledger as the source of contracts, for one reading. */
export interface ContractsSource {
  readonly client: Client;
  /** The number of the reading among the feeds of the ledger. */
  readonly feed: number;
  readonly transport: Transport | undefined;
  readonly maxSnapshotPageSize: number;
  /** The options of the feed of changes. */
  readonly updates: Pick<UpdatesOptions, 'maxPageSize' | 'idleTimeoutMs' | 'transport' | 'onOtherNode'>;
  readonly retry: CompleteRetryPolicy;
  readonly report: Report;
  readonly success$: Observable<unknown>;
}

/**
 * Returns a function that makes the source for one reading, which may use another service of the same ledger, and be that of a
 * processor with a name. Throws a TypeError for invalid options, or if the `updates` of the ledger were replaced.
 *
 * @param defaults - the retry policy if neither the ledger nor the options have one
 */
export function contractsSource(
  ledger: LedgerReader,
  options: ContractsOptions,
  defaults?: RetryPolicy,
): (client?: Client, processor?: string) => ContractsSource {
  const { maxSnapshotPageSize = 500, maxPageSize, idleTimeoutMs } = options;
  checkOptions(options);
  checkPositive({ maxSnapshotPageSize }, true);
  const bound = requireBinding(ledger);
  const transport = options.transport ?? bound.transport;
  const retry = retryPolicy(retryPolicy(defaults, bound.client.retry), options.retry);
  return (client = bound.client, processor) => {
    const feed = client.learned.newFeed();
    return {
      client,
      feed,
      transport: transport === 'http' ? undefined : transport,
      maxSnapshotPageSize,
      updates: { maxPageSize, idleTimeoutMs, transport, onOtherNode: options.onOtherNode },
      retry,
      report: client.reportFor(feed, processor),
      success$: client.success$,
    };
  };
}

/**
 * Reads the contracts of a ledger, from a new source at each subscription. Throws a TypeError for invalid options, or if the
 * `updates` of the ledger were replaced.
 *
 * @param defaults - the retry policy if neither the ledger nor the options have one
 */
export function readFrom<A>(
  ledger: LedgerReader,
  options: ContractsOptions,
  read: (source: ContractsSource) => Observable<A>,
  { isEndless = true, ...defaults }: { readonly isEndless?: boolean } & RetryPolicy = {},
): Observable<A> {
  const sourceOf = contractsSource(ledger, options, defaults);
  return interceptFeed(clientOf(ledger), { kind: 'contracts', isEndless }, (client) =>
    defer(() => read(sourceOf(client))),
  );
}
