import type * as t from 'io-ts';
import { Duration } from './Duration.js';
import { Empty } from './Empty.js';
import { keyed } from './internal/keyed.js';
import { valued } from './internal/valued.js';
import { Offset } from './Offset.js';

/**
 * How far back the ledger looks for another submission of the same change, that is of the same user, acting parties and
 * command id. `Empty` is the longest that the participant allows, usually seven days.
 */
export type DeduplicationPeriod =
  | {
      /** For a time before now. */
      readonly DeduplicationDuration: {
        /** How long. */
        readonly value: Duration;
      };
    }
  | {
      /** From an offset on. */
      readonly DeduplicationOffset: {
        /** After which offset. */
        readonly value: Offset;
      };
    }
  | {
      /** As long as the participant allows. */
      readonly Empty: Empty;
    };

/** Codec of `DeduplicationPeriod`. */
export const DeduplicationPeriod: t.Type<DeduplicationPeriod, unknown> = keyed<DeduplicationPeriod>(
  'DeduplicationPeriod',
  { DeduplicationDuration: valued(Duration), DeduplicationOffset: valued(Offset), Empty },
);
