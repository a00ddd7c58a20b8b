import { requestError } from '../errors.js';
import type { SandboxProfile } from '../Sandbox.js';
import { decodeError, type JsonCursor, missingField, readIdentifier } from './JsonCursor.js';

/** The updates that a request selects. */
export interface UpdateFormat {
  readonly transactions?: TransactionFormat | undefined;
  readonly reassignments?: EventFormat | undefined;
  /** The parties whose topology is selected; empty for all. */
  readonly topology?: readonly string[] | undefined;
}

/** The events of transactions that a request selects, and their shape. */
export interface TransactionFormat {
  readonly events: EventFormat;
  readonly ledgerEffects: boolean;
}

/** The events that a request selects: by the parties that see them and by filters. */
export interface EventFormat {
  readonly byParty: ReadonlyMap<string, readonly IdentifierFilter[]>;
  readonly anyParty?: readonly IdentifierFilter[] | undefined;
}

/** One filter of a cumulative list. */
export interface IdentifierFilter {
  readonly kind: 'wildcard' | 'template' | 'interface';
  /** The template or interface; `''` for a wildcard. */
  readonly id: string;
  readonly blob: boolean;
  readonly view: boolean;
}

/** Reads an update format. Each of its fields is optional. */
export function readUpdateFormat(cursor: JsonCursor, profile: SandboxProfile): UpdateFormat {
  const topology = cursor
    .field('includeTopologyEvents')
    .optional((format) => format.field('includeParticipantAuthorizationEvents').optional((events) => events));
  return {
    transactions: cursor.field('includeTransactions').optional((format) => readTransactionFormat(format, profile)),
    reassignments: cursor.field('includeReassignments').optional((format) => readEventFormat(format, profile)),
    topology: topology
      ?.field('parties')
      .list()
      .map((party) => party.string()),
  };
}

/** Reads a transaction format. Both of its fields are mandatory. */
export function readTransactionFormat(cursor: JsonCursor, profile: SandboxProfile): TransactionFormat {
  const shape = cursor.required('transactionShape').oneOfStrings(shapes);
  const events = cursor.field('eventFormat').optional((format) => readEventFormat(format, profile));
  if (events === undefined) throw missingField('event_format');
  if (shape === unspecified) throw missingField('transaction_shape');
  return { events, ledgerEffects: shape === ledgerEffects };
}

const unspecified = 'TRANSACTION_SHAPE_UNSPECIFIED';

const ledgerEffects = 'TRANSACTION_SHAPE_LEDGER_EFFECTS';

const shapes = [unspecified, 'TRANSACTION_SHAPE_ACS_DELTA', ledgerEffects];

/** Reads an event format, or a legacy filter, which is an event format without `verbose`. */
export function readEventFormat(cursor: JsonCursor, profile: SandboxProfile): EventFormat {
  cursor.field('verbose').boolean();
  const byParty = cursor
    .field('filtersByParty')
    .entries()
    .map(([name, filters]) => [name, readFilters(filters, profile)] as const);
  const anyParty = cursor.field('filtersForAnyParty').optional((filters) => readFilters(filters, profile));
  for (const [name] of byParty) {
    if (!partyPattern.test(name))
      throw requestError('INVALID_FIELD', `Invalid party "${name}" in ${cursor.at}.filtersByParty`);
  }
  if (byParty.length === 0 && anyParty === undefined) {
    throw requestError('INVALID_ARGUMENT', 'filtersByParty and filtersForAnyParty cannot both be empty');
  }
  return { byParty: new Map(byParty), anyParty };
}

const partyPattern = /^[A-Za-z0-9:\-_ ]{1,255}$/;

/** Reads a cumulative list of filters. An empty one selects everything. */
function readFilters(cursor: JsonCursor, profile: SandboxProfile): readonly IdentifierFilter[] {
  const filters = cursor
    .field('cumulative')
    .list()
    .flatMap((item) => readFilter(item.field('identifierFilter'), profile));
  return filters.length === 0 ? [wildcard] : filters;
}

const wildcard: IdentifierFilter = { kind: 'wildcard', id: '', blob: false, view: false };

function readFilter(cursor: JsonCursor, profile: SandboxProfile): readonly IdentifierFilter[] {
  if (cursor.value === undefined) return [];
  const [kind, content] = cursor.oneOf();
  if (kind === 'Empty') return [];
  const value = content.required('value');
  const blob = value.field('includeCreatedEventBlob').boolean();
  switch (kind) {
    case 'WildcardFilter':
      return [{ ...wildcard, blob }];
    case 'TemplateFilter':
      return [{ kind: 'template', id: readFilterId(value.required('templateId'), profile), blob, view: false }];
    case 'InterfaceFilter': {
      const view = value.field('includeInterfaceView').boolean();
      return [{ kind: 'interface', id: readFilterId(value.required('interfaceId'), profile), blob, view }];
    }
    default:
      throw decodeError(`Unknown variant ${kind} at '${cursor.at}'`);
  }
}

/** Reads the identifier of a filter. Since 3.5 it must have a package name. */
function readFilterId(cursor: JsonCursor, profile: SandboxProfile): string {
  const identifier = readIdentifier(cursor);
  if (profile === '3.4' || identifier.startsWith('#')) return identifier;
  const packageId = identifier.slice(0, identifier.indexOf(':'));
  const expected = 'but expected a package name.';
  throw requestError('INVALID_FIELD', `Received an identifier with package ID ${packageId}, ${expected}`);
}

/** The update format that is equivalent to a legacy filter. */
export function legacyFormat(events: EventFormat): UpdateFormat {
  return {
    transactions: { events, ledgerEffects: false },
    reassignments: events,
    topology: [...events.byParty.keys()],
  };
}
