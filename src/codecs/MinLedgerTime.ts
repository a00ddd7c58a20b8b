import type * as t from 'io-ts';
import { Duration } from './Duration.js';
import { Empty } from './Empty.js';
import { exact } from './internal/exact.js';
import { keyed } from './internal/keyed.js';
import { valued } from './internal/valued.js';
import { Timestamp } from './Timestamp.js';

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
