import * as t from 'io-ts';
import { Int64 } from './Int64.js';
import { exact } from './internal/exact.js';
import { ignored } from './internal/ignored.js';
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

const Nanos: t.Type<Int64, Int64> = new t.Type(
  'Nanos',
  (u): u is Int64 => Int64.is(u) && u >= 0 && u < 1e9,
  (u, context) => (Int64.is(u) && u >= 0 && u < 1e9 ? t.success(u) : t.failure(u, context, 'nanos, 0 to 999999999')),
  t.identity,
);

const Seconds: t.Type<Int64, Int64> = new t.Type(
  'Seconds',
  (u): u is Int64 => Int64.is(u) && u >= 0,
  (u, context) => (Int64.is(u) && u >= 0 ? t.success(u) : t.failure(u, context, 'seconds, a whole number from 0')),
  t.identity,
);

/** Codec of {@link (Duration:interface)}. */
export const Duration: t.Type<Duration, unknown> = exact<Duration>('Duration', {
  seconds: Seconds,
  nanos: withDefault(Nanos, 0),
  unknownFields: ignored,
});
