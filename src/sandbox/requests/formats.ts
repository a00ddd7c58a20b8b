import { refused } from '../errors.js';
import type { SandboxProfile } from '../Sandbox.js';
import { type Cursor, readIdentifier, undecodable } from './Cursor.js';

/** Whose events are asked for, and which. */
export interface EventFormat {
  readonly byParty: ReadonlyMap<string, readonly IdentifierFilter[]>;
  readonly anyParty?: readonly IdentifierFilter[] | undefined;
}

/** One filter of a cumulative list, as read from a request. */
export interface IdentifierFilter {
  readonly kind: 'wildcard' | 'template' | 'interface';
  /** The template or interface; `''` for a wildcard. */
  readonly id: string;
  readonly blob: boolean;
  readonly view: boolean;
}

const ledgerEffects = 'TRANSACTION_SHAPE_LEDGER_EFFECTS';

/** Which events of transactions are asked for, and in which of the two shapes. */
export interface TransactionFormat {
  readonly events: EventFormat;
  readonly ledgerEffects: boolean;
}

/** Which updates are asked for. */
export interface UpdateFormat {
  readonly transactions?: TransactionFormat | undefined;
  readonly reassignments?: EventFormat | undefined;
  /** The parties whose topology is asked for; empty for all. */
  readonly topology?: readonly string[] | undefined;
}

/** What a legacy filter stands for. */
export function legacyFormat(events: EventFormat): UpdateFormat {
  return {
    transactions: { events, ledgerEffects: false },
    reassignments: events,
    topology: [...events.byParty.keys()],
  };
}

const party = /^[A-Za-z0-9:\-_ ]{1,255}$/;

/** An event format, or the legacy filter, which is the same but for `verbose`. */
export function readEventFormat(cursor: Cursor, profile: SandboxProfile): EventFormat {
  cursor.field('verbose').boolean();
  const byParty = cursor
    .field('filtersByParty')
    .entries()
    .map(([name, filters]) => [name, readFilters(filters, profile)] as const);
  const anyParty = cursor.field('filtersForAnyParty').optional((filters) => readFilters(filters, profile));
  for (const [name] of byParty) {
    if (!party.test(name)) throw refused('INVALID_FIELD', `Invalid party "${name}" in ${cursor.at}.filtersByParty`);
  }
  if (byParty.length === 0 && anyParty === undefined) {
    throw refused('INVALID_ARGUMENT', 'filtersByParty and filtersForAnyParty cannot both be empty');
  }
  return { byParty: new Map(byParty), anyParty };
}

const wildcard: IdentifierFilter = { kind: 'wildcard', id: '', blob: false, view: false };

/** A cumulative list of filters; an empty one lets everything through. */
function readFilters(cursor: Cursor, profile: SandboxProfile): readonly IdentifierFilter[] {
  const filters = cursor
    .field('cumulative')
    .list()
    .flatMap((item) => readFilter(item.field('identifierFilter'), profile));
  return filters.length === 0 ? [wildcard] : filters;
}

function readFilter(cursor: Cursor, profile: SandboxProfile): readonly IdentifierFilter[] {
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
      throw undecodable(`Unknown variant ${kind} at '${cursor.at}'`);
  }
}

/** From 3.5 on, filters go by package name only. */
function readFilterId(cursor: Cursor, profile: SandboxProfile): string {
  const identifier = readIdentifier(cursor);
  if (profile === '3.4' || identifier.startsWith('#')) return identifier;
  const packageId = identifier.slice(0, identifier.indexOf(':'));
  const expected = 'but expected a package name.';
  throw refused('INVALID_FIELD', `Received an identifier with package ID ${packageId}, ${expected}`);
}

const unspecified = 'TRANSACTION_SHAPE_UNSPECIFIED';

const shapes = [unspecified, 'TRANSACTION_SHAPE_ACS_DELTA', ledgerEffects];

/** A transaction format; both of its fields are needed. */
export function readTransactionFormat(cursor: Cursor, profile: SandboxProfile): TransactionFormat {
  const shape = cursor.required('transactionShape').oneOfStrings(shapes);
  const events = cursor.field('eventFormat').optional((format) => readEventFormat(format, profile));
  if (events === undefined) throw missing('event_format');
  if (shape === unspecified) throw missing('transaction_shape');
  return { events, ledgerEffects: shape === ledgerEffects };
}

function missing(field: string) {
  return refused('MISSING_FIELD', `The submitted command is missing a mandatory field: ${field}`);
}

/** An update format; each of its parts is optional. */
export function readUpdateFormat(cursor: Cursor, profile: SandboxProfile): UpdateFormat {
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
