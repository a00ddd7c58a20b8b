import type * as t from 'io-ts';
import { ignored, integer, withDefault } from './internal/field.js';
import { exact, valueField } from './internal/message.js';
import { oneOfKeys } from './internal/variant.js';
import { type Int64, type Opt, Timestamp } from './scalars.js';

/**
 * A duration in a request.
 *
 * @inline
 */
export interface Duration {
  /** Whole seconds. */
  readonly seconds: Int64;
  /** Additional nanoseconds, 0 to 999 999 999. Default: 0. */
  readonly nanos?: Opt<Int64>;
  /** Present in the ledger's responses; it is not sent. */
  readonly unknownFields?: unknown;
}

/** Codec of `Duration`. */
export const Duration: t.Type<Duration, unknown> = exact<Duration>('Duration', {
  seconds: integer('seconds', 0, Infinity, 'a whole number from 0'),
  nanos: withDefault(integer('nanos', 0, 999_999_999, '0 to 999999999'), 0),
  unknownFields: ignored,
});

/**
 * A variant without content: `{}`.
 *
 * @inline
 */
export type Empty = Readonly<Record<string, never>>;

/** Codec of `Empty`. */
export const Empty: t.Type<Empty, unknown> = exact<Empty>('Empty', {});

/**
 * The earliest ledger time of a transaction: an absolute time, or a duration from now. It does not delay the
 * submission.
 *
 * @inline
 */
export interface MinLedgerTime {
  /** The earliest time, as one of three variants. Default: `Empty`. */
  readonly time?:
    | {
        /** Not before an absolute time. */
        readonly MinLedgerTimeAbs: {
          /** The time. */
          readonly value: Timestamp;
        };
      }
    | {
        /** Not before now plus a duration. */
        readonly MinLedgerTimeRel: {
          /** The duration. */
          readonly value: Duration;
        };
      }
    | {
        /** No earliest time. */
        readonly Empty: Empty;
      }
    | null
    | undefined;
}

type Time = NonNullable<MinLedgerTime['time']>;

/** Codec of `MinLedgerTime`. */
export const MinLedgerTime: t.Type<MinLedgerTime, unknown> = exact<MinLedgerTime>('MinLedgerTime', {
  time: withDefault(
    oneOfKeys<Time>('time', {
      MinLedgerTimeAbs: valueField(Timestamp),
      MinLedgerTimeRel: valueField(Duration),
      Empty,
    }),
    { Empty: {} },
  ),
});
