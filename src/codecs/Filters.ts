import type * as t from 'io-ts';
import { IdentifierFilter } from './IdentifierFilter.js';
import { exact } from './internal/exact.js';
import { repeated } from './internal/repeated.js';
import { withDefault } from './internal/withDefault.js';
import type { Opt } from './Opt.js';

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
