import type * as t from 'io-ts';
import { Filters } from './Filters.js';
import { exact } from './internal/exact.js';
import { mapOf } from './internal/mapOf.js';
import { nullable } from './internal/nullable.js';
import { withDefault } from './internal/withDefault.js';
import type { Opt } from './Opt.js';
import { Party } from './Party.js';

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
