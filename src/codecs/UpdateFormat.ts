import type * as t from 'io-ts';
import { type CumulativeFilter, type Filters, partyFilters } from './Filters.js';
import { flag, nullable, oneOfStrings, repeated, withDefault } from './internal/field.js';
import { exact } from './internal/message.js';
import { type CheckedTemplateId, checkTemplateId, type Opt, Party } from './scalars.js';

/**
 * Selects events by party and by contract.
 *
 * @category Requests
 */
export interface EventFormat {
  /** The filters by party. The token's user must have the right to read as each party. Default: no party. */
  readonly filtersByParty?: Opt<Readonly<Record<Party, Filters>>>;
  /** The filters for every party of the participant. The token's user must have the right to read as any party. */
  readonly filtersForAnyParty?: Opt<Filters>;
  /** Whether gRPC values include labels and type ids; has no effect on JSON. Default: false. */
  readonly verbose?: Opt<boolean>;
}

/**
 * Codec of `EventFormat`.
 *
 * @category Requests
 */
export const EventFormat: t.Type<EventFormat, unknown> = /* @__PURE__ */ (() =>
  exact<EventFormat>('EventFormat', {
    ...partyFilters,
    verbose: withDefault(flag, false),
  }))();

/**
 * Selects the parties whose hosting changes are included.
 *
 * @inline
 */
interface ParticipantAuthorizationFormat {
  /** The parties; an empty list selects all parties. Default: all. */
  readonly parties?: Opt<readonly Party[]>;
}

/**
 * Selects topology events.
 *
 * @inline
 */
interface TopologyFormat {
  /** Which changes to the hosting of parties to include; absent for none. */
  readonly includeParticipantAuthorizationEvents?: Opt<ParticipantAuthorizationFormat>;
}

const ParticipantAuthorizationFormat = /* @__PURE__ */ (() =>
  exact<ParticipantAuthorizationFormat>('ParticipantAuthorizationFormat', {
    parties: withDefault(repeated(Party), []),
  }))();

/** Codec of `TopologyFormat`. */
const TopologyFormat: t.Type<TopologyFormat, unknown> = /* @__PURE__ */ (() =>
  exact<TopologyFormat>('TopologyFormat', {
    includeParticipantAuthorizationEvents: nullable(ParticipantAuthorizationFormat),
  }))();

/**
 * The kind of events in a transaction.
 *
 * - `TRANSACTION_SHAPE_ACS_DELTA`: creations and archivals of contracts on which a requesting party is a stakeholder.
 * - `TRANSACTION_SHAPE_LEDGER_EFFECTS`: creations and exercises of which a requesting party is an informee.
 *
 * @inline
 */
type TransactionShape = 'TRANSACTION_SHAPE_ACS_DELTA' | 'TRANSACTION_SHAPE_LEDGER_EFFECTS';

/** Codec of `TransactionShape`. */
const TransactionShape: t.Type<TransactionShape, TransactionShape> = /* @__PURE__ */ oneOfStrings<TransactionShape>(
  'TransactionShape',
  'TRANSACTION_SHAPE_ACS_DELTA',
  'TRANSACTION_SHAPE_LEDGER_EFFECTS',
);

/**
 * Selects the events of transactions, and their shape.
 *
 * @inline
 */
export interface TransactionFormat {
  /** The parties and contracts to select. */
  readonly eventFormat: EventFormat;
  /** Whether to include changes of active contracts or all effects. */
  readonly transactionShape: TransactionShape;
}

/** Codec of `TransactionFormat`. */
export const TransactionFormat: t.Type<TransactionFormat, unknown> = /* @__PURE__ */ (() =>
  exact<TransactionFormat>('TransactionFormat', {
    eventFormat: EventFormat,
    transactionShape: TransactionShape,
  }))();

/**
 * Selects updates. {@link acsDelta} and {@link ledgerEffects} build one without the nesting.
 *
 * @category Requests
 */
export interface UpdateFormat {
  /** Which transactions to include; absent for none. */
  readonly includeTransactions?: Opt<TransactionFormat>;
  /** Which reassignments to include; absent for none. */
  readonly includeReassignments?: Opt<EventFormat>;
  /** Which topology transactions to include; absent for none. */
  readonly includeTopologyEvents?: Opt<TopologyFormat>;
}

/**
 * An update format with the shape of {@link ledgerEffects}.
 *
 * @category Requests
 */
export interface LedgerEffectsFormat extends UpdateFormat {
  /** The transactions, with their exercises in place of archivals. */
  readonly includeTransactions: TransactionFormat & {
    /** All effects. */
    readonly transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS';
  };
}

/**
 * Codec of `UpdateFormat`.
 *
 * @category Requests
 */
export const UpdateFormat: t.Type<UpdateFormat, unknown> = /* @__PURE__ */ (() =>
  exact<UpdateFormat>('UpdateFormat', {
    includeTransactions: nullable(TransactionFormat),
    includeReassignments: nullable(EventFormat),
    includeTopologyEvents: nullable(TopologyFormat),
  }))();

/**
 * Options of {@link acsDelta} and {@link ledgerEffects}.
 *
 * @category Requests
 */
export interface FormatOptions<I extends string = string> {
  /**
   * At least one party, or `'any'` for every party of the participant. `'any'` requires the right to read as any party.
   */
  readonly parties: readonly Party[] | 'any';
  /** The templates to select: `#package-name:Module:Entity`. Default: all, unless `interfaces` are given. */
  readonly templates?: readonly CheckedTemplateId<I>[];
  /** The interfaces to select, with their views: `#package-name:Module:Entity`. Default: none. */
  readonly interfaces?: readonly CheckedTemplateId<I>[];
  /** Whether created events include the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: boolean;
  /** Whether created events include the views of the `interfaces`. Default: true. */
  readonly includeInterfaceView?: boolean;
  /** Whether gRPC values include labels and type ids; has no effect on JSON. Default: false. */
  readonly verbose?: boolean;
  /** Whether to include reassignments. Default: true. */
  readonly reassignments?: boolean;
  /** Whether to include changes to the hosting of the parties. Default: true. */
  readonly topology?: boolean;
}

/**
 * Returns a format that selects changes of active contracts: creations and archivals of contracts on which one of the
 * parties is a stakeholder, their reassignments, and changes to the hosting of the parties.
 *
 * @throws TypeError if the list of parties is empty or has anything but parties, or if a template or an interface has no
 * valid id
 * @example
 * ```ts
 * import { acsDelta } from 'canton-rx';
 *
 * acsDelta({ parties: ['alice::1220ab'], templates: ['#my-pkg:Main:Asset'] });
 * acsDelta({ parties: 'any', topology: false });
 * ```
 * @category Requests
 */
export const acsDelta = <const I extends string>(options: FormatOptions<I>): UpdateFormat =>
  formatOf('TRANSACTION_SHAPE_ACS_DELTA', options);

/**
 * Returns a format that selects all effects: creations and exercises of which one of the parties is an informee, their
 * reassignments, and changes to the hosting of the parties. There are no archivals: their exercises are consuming.
 *
 * @throws TypeError if the list of parties is empty or has anything but parties, or if a template or an interface has no
 * valid id
 * @example
 * ```ts
 * import { ledgerEffects } from 'canton-rx';
 *
 * ledgerEffects({ parties: ['alice::1220ab'], interfaces: ['#my-api:Api:Holding'] });
 * ```
 * @category Requests
 */
export const ledgerEffects = <const I extends string>(options: FormatOptions<I>): LedgerEffectsFormat =>
  formatOf('TRANSACTION_SHAPE_LEDGER_EFFECTS', options);

function formatOf<S extends TransactionShape>(
  transactionShape: S,
  options: FormatOptions,
): UpdateFormat & { readonly includeTransactions: TransactionFormat & { readonly transactionShape: S } } {
  const { parties, reassignments = true, topology = true } = options;
  // an absent party would become the key `undefined`, which is a party id
  if (parties !== 'any' && !areTexts(parties)) throw new TypeError("parties must be a list of party ids, or 'any'");
  // an empty list in a topology format selects every party
  if (parties.length === 0) throw new TypeError("parties is empty; use 'any' for every party");
  const eventFormat = eventFormatOf(options);
  return {
    includeTransactions: { eventFormat, transactionShape },
    ...(reassignments && { includeReassignments: eventFormat }),
    ...(topology && {
      includeTopologyEvents: {
        includeParticipantAuthorizationEvents: { parties: parties === 'any' ? [] : [...parties] },
      },
    }),
  };
}

/** Despite the types, JavaScript callers may pass anything. */
const areTexts = (u: unknown): boolean => Array.isArray(u) && u.every((each) => typeof each === 'string');

function eventFormatOf(options: FormatOptions): EventFormat {
  const { parties, verbose = false } = options;
  const filters = filtersOf(options);
  return parties === 'any'
    ? { filtersByParty: {}, filtersForAnyParty: filters, verbose }
    : { filtersByParty: Object.fromEntries(parties.map((party) => [party, filters])), verbose };
}

function filtersOf(options: FormatOptions): Filters {
  const { templates = [], interfaces = [], includeCreatedEventBlob = false, includeInterfaceView = true } = options;
  [...templates, ...interfaces].forEach(checkTemplateId);
  const byTemplate = templates.map((templateId): CumulativeFilter => ({
    identifierFilter: { TemplateFilter: { value: { templateId, includeCreatedEventBlob } } },
  }));
  const byInterface = interfaces.map((interfaceId): CumulativeFilter => ({
    identifierFilter: { InterfaceFilter: { value: { interfaceId, includeInterfaceView, includeCreatedEventBlob } } },
  }));
  const wildcard: CumulativeFilter = { identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob } } } };
  const cumulative = [...byTemplate, ...byInterface];
  return { cumulative: cumulative.length > 0 ? cumulative : [wildcard] };
}
