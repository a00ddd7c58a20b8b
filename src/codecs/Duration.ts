import type * as t from 'io-ts';
import type { Int64 } from './Int64.js';
import { exact } from './internal/exact.js';
import { ignored } from './internal/ignored.js';
import { whole } from './internal/whole.js';
import { withDefault } from './internal/withDefault.js';
import type { Opt } from './Opt.js';

/** A length of time in a request. */
export interface Duration {
  /** Whole seconds. */
  readonly seconds: Int64;
  /** Billionths of a second beside them, 0 to 999 999 999. Default: 0. */
  readonly nanos?: Opt<Int64>;
  /** The ledger writes this in its answers; it is not sent. */
  readonly unknownFields?: unknown;
}

/** Codec of `Duration`. */
export const Duration: t.Type<Duration, unknown> = exact<Duration>('Duration', {
  seconds: whole('seconds', 0, Infinity, 'a whole number from 0'),
  nanos: withDefault(whole('nanos', 0, 999_999_999, '0 to 999999999'), 0),
  unknownFields: ignored,
});
