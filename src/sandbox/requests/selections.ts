import { type Filters, TransactionFilter } from '../../codecs/Filters.js';
import { flag, lenient, nullable } from '../../codecs/internal/field.js';
import type { Opt } from '../../codecs/scalars.js';
import type { EventFormat, TransactionFormat, UpdateFormat } from '../../codecs/UpdateFormat.js';
import { requestError } from '../errors.js';
import type { Settings } from '../participant/Settings.js';
import type { SandboxProfile } from '../SandboxChanges.js';
import { missingField } from './decode.js';

/** The updates that a format selects. */
export interface UpdateSelection {
  readonly transactions?: TransactionSelection | undefined;
  readonly reassignments?: EventSelection | undefined;
  /** The parties whose topology is selected; empty for all. */
  readonly topology?: readonly string[] | undefined;
}

/** The events of transactions that a format selects, and their shape. */
export interface TransactionSelection {
  readonly events: EventSelection;
  readonly ledgerEffects: boolean;
}

/** The events that a format selects: by the parties that see them and by filters. */
export interface EventSelection {
  readonly byParty: ReadonlyMap<string, readonly ContractFilter[]>;
  readonly anyParty?: readonly ContractFilter[] | undefined;
}

/** One filter of a cumulative list. */
interface ContractFilter {
  readonly kind: 'wildcard' | 'template' | 'interface';
  /** The template or interface; `''` for a wildcard. */
  readonly id: string;
  readonly blob: boolean;
  readonly view: boolean;
}

/** Selects all contracts. */
const wildcard: ContractFilter = { kind: 'wildcard', id: '', blob: false, view: false };

/** The default of submissions: what is created and archived, as the parties see it. */
export function selectParties(parties: readonly string[]): TransactionSelection {
  return { events: { byParty: new Map(parties.map((party) => [party, [wildcard]])) }, ledgerEffects: false };
}

export function selectUpdates(format: UpdateFormat, profile: SandboxProfile): UpdateSelection {
  const { includeTransactions, includeReassignments, includeTopologyEvents } = format;
  const topology = includeTopologyEvents?.includeParticipantAuthorizationEvents;
  return {
    transactions: includeTransactions ? selectTransactions(includeTransactions, profile) : undefined,
    reassignments: includeReassignments ? selectEvents(includeReassignments, profile) : undefined,
    topology: topology ? (topology.parties ?? []) : undefined,
  };
}

export function selectTransactions(format: TransactionFormat, profile: SandboxProfile): TransactionSelection {
  const ledgerEffects = format.transactionShape === 'TRANSACTION_SHAPE_LEDGER_EFFECTS';
  return { events: selectEvents(format.eventFormat, profile), ledgerEffects };
}

/** Reads an event format, or a legacy filter, which is an event format without `verbose`. */
export function selectEvents(format: EventFormat | TransactionFilter, profile: SandboxProfile): EventSelection {
  const parties = Object.entries(format.filtersByParty ?? {});
  if (parties.length === 0 && !format.filtersForAnyParty) {
    throw requestError('INVALID_ARGUMENT', 'filtersByParty and filtersForAnyParty cannot both be empty');
  }
  return {
    byParty: new Map(parties.map(([party, filters]) => [party, selectContracts(filters, profile)])),
    anyParty: format.filtersForAnyParty ? selectContracts(format.filtersForAnyParty, profile) : undefined,
  };
}

/** The updates that a legacy filter selects. */
export function selectByFilter(filter: TransactionFilter, profile: SandboxProfile): UpdateSelection {
  const events = selectEvents(filter, profile);
  return {
    transactions: { events, ledgerEffects: false },
    reassignments: events,
    topology: [...events.byParty.keys()],
  };
}

/** Reads a cumulative list of filters. An empty one selects everything. */
function selectContracts({ cumulative }: Filters, profile: SandboxProfile): readonly ContractFilter[] {
  const filters = (cumulative ?? []).flatMap(({ identifierFilter }) => readFilter(identifierFilter, profile));
  return filters.length === 0 ? [wildcard] : filters;
}

type IdentifierFilter = NonNullable<Filters['cumulative']>[number]['identifierFilter'];

function readFilter(filter: IdentifierFilter, profile: SandboxProfile): readonly ContractFilter[] {
  if (filter == null || 'Empty' in filter) return [];
  if ('WildcardFilter' in filter)
    return [{ ...wildcard, blob: filter.WildcardFilter.value.includeCreatedEventBlob ?? false }];
  if ('TemplateFilter' in filter) {
    const { templateId, includeCreatedEventBlob } = filter.TemplateFilter.value;
    checkPackage(templateId, profile);
    return [{ kind: 'template', id: templateId, blob: includeCreatedEventBlob ?? false, view: false }];
  }
  const { interfaceId, includeCreatedEventBlob, includeInterfaceView } = filter.InterfaceFilter.value;
  checkPackage(interfaceId, profile);
  const [blob, view] = [includeCreatedEventBlob ?? false, includeInterfaceView ?? false];
  return [{ kind: 'interface', id: interfaceId, blob, view }];
}

/** Rejects the identifier of a filter without a package name, since 3.5. */
function checkPackage(identifier: string, profile: SandboxProfile): void {
  if (profile < '3.5' || identifier.startsWith('#')) return;
  const packageId = identifier.slice(0, identifier.indexOf(':'));
  const expected = 'but expected a package name.';
  throw requestError('INVALID_FIELD', `Received an identifier with package ID ${packageId}, ${expected}`);
}

/** The fields of requests up to 3.6 that a format replaces. */
export const legacyFields = { filter: nullable(TransactionFilter), verbose: lenient(flag, false) };

interface LegacyFields {
  readonly filter?: Opt<TransactionFilter>;
  readonly verbose: boolean;
}

/** Returns the format of a request, or its legacy filter. A request has one of the two. */
export function chooseFormat<F>(
  name: 'update_format' | 'event_format',
  format: Opt<F>,
  { filter, verbose }: LegacyFields,
  settings: Settings,
): { readonly format: F } | { readonly filter: TransactionFilter } {
  if (settings.profile >= '3.7') {
    if (!format) throw missingField(name);
    return { format };
  }
  if (filter || verbose) rejectDeprecated(settings, 'The parameters filter and verbose');
  if (format && filter) throw invalidArgument(`Both ${name} and filter are set.`);
  if (format && verbose) throw invalidArgument(`Both ${name} and verbose are set.`);
  if (format) return { format };
  if (filter) return { filter };
  throw invalidArgument(`Either filter/verbose or ${name} is required.`);
}

const invalidArgument = (cause: string) => requestError('INVALID_ARGUMENT', `${cause} Please use one of them.`);

/** Rejects a deprecated feature that 3.6 serves only if it is enabled. */
export function rejectDeprecated({ profile, deprecatedApis }: Settings, what: string): void {
  if (profile < '3.6' || deprecatedApis) return;
  const cause = `${what} deprecated since Canton 3.4: disabled by default from 3.6 on, removed in 3.7.`;
  throw requestError('DEPRECATED_API_DISABLED', cause);
}
