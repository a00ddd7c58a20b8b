import type * as t from 'io-ts';
import { flag, mapOf, nullable, repeated, withDefault } from './internal/field.js';
import { exact, valueField } from './internal/message.js';
import { oneOfKeys } from './internal/variant.js';
import { Empty } from './MinLedgerTime.js';
import { type Opt, Party, SelectedId, type TemplateId } from './scalars.js';

/**
 * Selects the contracts of every template.
 *
 * @inline
 */
interface WildcardFilter {
  /** Whether created events include the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: Opt<boolean>;
}

/**
 * Selects the contracts of one template.
 *
 * @inline
 */
interface TemplateFilter {
  /** The template: `#package-name:Module:Entity`. */
  readonly templateId: TemplateId;
  /** Whether created events include the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: Opt<boolean>;
}

/**
 * Selects the contracts whose template implements an interface.
 *
 * @inline
 */
interface InterfaceFilter {
  /** The interface: `#package-name:Module:Entity`. */
  readonly interfaceId: TemplateId;
  /** Whether created events include the interface's view. Default: false. */
  readonly includeInterfaceView?: Opt<boolean>;
  /** Whether created events include the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: Opt<boolean>;
}

/**
 * The contracts that a filter selects, in wire format. `Empty` equals the wildcard without blobs.
 *
 * @inline
 */
type IdentifierFilter =
  | {
      /** All contracts. */
      readonly WildcardFilter: {
        /** The parts that their events include. */
        readonly value: WildcardFilter;
      };
    }
  | {
      /** Contracts of a template. */
      readonly TemplateFilter: {
        /** The template, and what the events include. */
        readonly value: TemplateFilter;
      };
    }
  | {
      /** Contracts that implement an interface. */
      readonly InterfaceFilter: {
        /** The interface, and what the events include. */
        readonly value: InterfaceFilter;
      };
    }
  | {
      /** All contracts; equals the wildcard without blobs. */
      readonly Empty: Empty;
    };

const falseByDefault = withDefault(flag, false);

/** Codec of `IdentifierFilter`. */
const IdentifierFilter: t.Type<IdentifierFilter, unknown> = oneOfKeys<IdentifierFilter>('IdentifierFilter', {
  WildcardFilter: valueField(exact<WildcardFilter>('WildcardFilter', { includeCreatedEventBlob: falseByDefault })),
  TemplateFilter: valueField(
    exact<TemplateFilter>('TemplateFilter', { templateId: SelectedId, includeCreatedEventBlob: falseByDefault }),
  ),
  InterfaceFilter: valueField(
    exact<InterfaceFilter>('InterfaceFilter', {
      interfaceId: SelectedId,
      includeInterfaceView: falseByDefault,
      includeCreatedEventBlob: falseByDefault,
    }),
  ),
  Empty,
});

/**
 * One of the filters of a party.
 *
 * @inline
 */
export interface CumulativeFilter {
  /** The contracts that match. Default: `Empty`. */
  readonly identifierFilter?: Opt<IdentifierFilter>;
}

/**
 * The filters of a party. A contract matches if any filter matches it. An empty list matches all contracts.
 *
 * @category Requests
 */
export interface Filters {
  /** The filters; a contract that matches any of them is selected. Default: none, which equals the wildcard. */
  readonly cumulative?: Opt<readonly CumulativeFilter[]>;
}

const CumulativeFilter = exact<CumulativeFilter>('CumulativeFilter', {
  identifierFilter: withDefault(IdentifierFilter, { Empty: {} }),
});

/**
 * Codec of `Filters`.
 *
 * @category Requests
 */
export const Filters: t.Type<Filters, unknown> = exact<Filters>('Filters', {
  cumulative: withDefault(repeated(CumulativeFilter), []),
});

/**
 * The predecessor of `UpdateFormat`: deprecated since 3.4, disabled by default in 3.6, removed in 3.7.
 *
 * @inline
 */
export interface TransactionFilter {
  /** The filters by party. Default: no party. */
  readonly filtersByParty?: Opt<Readonly<Record<Party, Filters>>>;
  /** The filters for every party of the participant. */
  readonly filtersForAnyParty?: Opt<Filters>;
}

/** The fields that select events by party. */
export const partyFilters = {
  filtersByParty: withDefault(mapOf(Party, Filters), {}),
  filtersForAnyParty: nullable(Filters),
};

/** Codec of `TransactionFilter`. */
export const TransactionFilter: t.Type<TransactionFilter, unknown> = exact<TransactionFilter>(
  'TransactionFilter',
  partyFilters,
);
