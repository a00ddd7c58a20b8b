import type * as t from 'io-ts';
import { mapOf, repeated } from './internal/collection.js';
import { flag, nullable, withDefault } from './internal/field.js';
import { exact, valued } from './internal/message.js';
import { keyed } from './internal/variant.js';
import { Empty } from './MinLedgerTime.js';
import { type Opt, Party, TemplateId } from './scalars.js';

/** Contracts of every template. */
export interface WildcardFilter {
  /** Whether created events carry the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: Opt<boolean>;
}

/** Contracts of one template. */
export interface TemplateFilter {
  /** `#package-name:Module:Entity`. */
  readonly templateId: TemplateId;
  /** Whether created events carry the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: Opt<boolean>;
}

/** Contracts whose template implements an interface. */
export interface InterfaceFilter {
  /** `#package-name:Module:Entity`. */
  readonly interfaceId: TemplateId;
  /** Whether created events carry the interface's view. Default: false. */
  readonly includeInterfaceView?: Opt<boolean>;
  /** Whether created events carry the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: Opt<boolean>;
}

/** Which contracts a filter takes, as the wire writes it. `Empty` takes as many as the wildcard. */
export type IdentifierFilter =
  | {
      /** All contracts. */
      readonly WildcardFilter: {
        /** What of them. */
        readonly value: WildcardFilter;
      };
    }
  | {
      /** Contracts of a template. */
      readonly TemplateFilter: {
        /** Which template, and what of its contracts. */
        readonly value: TemplateFilter;
      };
    }
  | {
      /** Contracts that implement an interface. */
      readonly InterfaceFilter: {
        /** Which interface, and what of the contracts. */
        readonly value: InterfaceFilter;
      };
    }
  | {
      /** All contracts; as a wildcard that asks for no blobs. */
      readonly Empty: Empty;
    };

const unlessSaid = withDefault(flag, false);

/** Codec of `IdentifierFilter`. */
export const IdentifierFilter: t.Type<IdentifierFilter, unknown> = keyed<IdentifierFilter>('IdentifierFilter', {
  WildcardFilter: valued(exact<WildcardFilter>('WildcardFilter', { includeCreatedEventBlob: unlessSaid })),
  TemplateFilter: valued(
    exact<TemplateFilter>('TemplateFilter', { templateId: TemplateId, includeCreatedEventBlob: unlessSaid }),
  ),
  InterfaceFilter: valued(
    exact<InterfaceFilter>('InterfaceFilter', {
      interfaceId: TemplateId,
      includeInterfaceView: unlessSaid,
      includeCreatedEventBlob: unlessSaid,
    }),
  ),
  Empty,
});

/** One of the filters of a party. */
export interface CumulativeFilter {
  /** Which contracts it takes. */
  readonly identifierFilter: IdentifierFilter;
}

/** The filters of a party; what any of them takes is taken, and no filter at all takes everything. */
export interface Filters {
  /** The filters, or-ed. Default: none, which is the wildcard. */
  readonly cumulative?: Opt<readonly CumulativeFilter[]>;
}

const CumulativeFilter = exact<CumulativeFilter>('CumulativeFilter', { identifierFilter: IdentifierFilter });

/** Codec of `Filters`. */
export const Filters: t.Type<Filters, unknown> = exact<Filters>('Filters', {
  cumulative: withDefault(repeated(CumulativeFilter), []),
});

/** The filter of a request from before `UpdateFormat`; deprecated since 3.4, off by default in 3.6. */
export interface TransactionFilter {
  /** The filters of each party. Default: no party. */
  readonly filtersByParty?: Opt<Readonly<Record<Party, Filters>>>;
  /** The filters of every party of the participant. */
  readonly filtersForAnyParty?: Opt<Filters>;
}

/** Codec of `TransactionFilter`. */
export const TransactionFilter: t.Type<TransactionFilter, unknown> = exact<TransactionFilter>('TransactionFilter', {
  filtersByParty: withDefault(mapOf(Party, Filters), {}),
  filtersForAnyParty: nullable(Filters),
});
