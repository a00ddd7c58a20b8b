import type * as t from 'io-ts';
import { Codec } from './internal/Codec.js';
import { json, optional, whole, withDefault } from './internal/field.js';
import { exact, valued } from './internal/message.js';
import { keyed } from './internal/variant.js';
import { type Int64, type Opt, Timestamp } from './scalars.js';

/** A field of a request that may be there, since the ledger's own answers have it, and is not sent. */
const ignored: t.Type<unknown, unknown> = new Codec<unknown>(
  'ignored',
  optional(json).is,
  () => undefined,
  () => undefined,
);

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

/** The wire's `{}`, a variant without content. */
export type Empty = Readonly<Record<string, never>>;

/** Codec of `Empty`. */
export const Empty: t.Type<Empty, unknown> = exact<Empty>('Empty', {});

/** The earliest ledger time that a transaction may take: a time, or a while from now. It delays no submission. */
export interface MinLedgerTime {
  /** The one-of of the wire; `Empty` sets none. */
  readonly time:
    | {
        /** Not before a time. */
        readonly MinLedgerTimeAbs: {
          /** The time. */
          readonly value: Timestamp;
        };
      }
    | {
        /** Not before a while from now. */
        readonly MinLedgerTimeRel: {
          /** How long. */
          readonly value: Duration;
        };
      }
    | {
        /** Whenever. */
        readonly Empty: Empty;
      };
}

/** Codec of `MinLedgerTime`. */
export const MinLedgerTime: t.Type<MinLedgerTime, unknown> = exact<MinLedgerTime>('MinLedgerTime', {
  time: keyed<MinLedgerTime['time']>('time', {
    MinLedgerTimeAbs: valued(Timestamp),
    MinLedgerTimeRel: valued(Duration),
    Empty,
  }),
});
