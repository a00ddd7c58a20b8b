import type * as t from 'io-ts';
import { Filters } from './Filters.js';
import { exact } from './internal/exact.js';
import { flag } from './internal/flag.js';
import { mapOf } from './internal/mapOf.js';
import { nullable } from './internal/nullable.js';
import { withDefault } from './internal/withDefault.js';
import type { Opt } from './Opt.js';
import { Party } from './Party.js';

/** Whose events of which contracts are asked for. */
export interface EventFormat {
  /** The filters of each party; the token's user must be allowed to read as it. Default: no party. */
  readonly filtersByParty?: Opt<Readonly<Record<Party, Filters>>>;
  /** The filters of every party of the participant; the token's user must be allowed to read as any party. */
  readonly filtersForAnyParty?: Opt<Filters>;
  /** Whether gRPC values carry labels and type ids; JSON does not change by it. Default: false. */
  readonly verbose?: Opt<boolean>;
}

/** Codec of `EventFormat`. */
export const EventFormat: t.Type<EventFormat, unknown> = exact<EventFormat>('EventFormat', {
  filtersByParty: withDefault(mapOf(Party, Filters), {}),
  filtersForAnyParty: nullable(Filters),
  verbose: withDefault(flag, false),
});
