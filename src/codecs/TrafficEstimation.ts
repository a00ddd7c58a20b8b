import type * as t from 'io-ts';
import { exact } from './internal/exact.js';
import { flag } from './internal/flag.js';
import { repeated } from './internal/repeated.js';
import { text } from './internal/text.js';
import { withDefault } from './internal/withDefault.js';
import type { Opt } from './Opt.js';

/** Whether and for which signatures `prepare` estimates the cost of the submission. Since 3.4. */
export interface TrafficEstimation {
  /** Whether to leave the estimation out. Default: false. */
  readonly disabled?: Opt<boolean>;
  /** The algorithms of the signatures to come, `SIGNING_ALGORITHM_SPEC_…`. Default: those of the party's keys. */
  readonly expectedSignatures?: Opt<readonly string[]>;
}

/** Codec of `TrafficEstimation`. */
export const TrafficEstimation: t.Type<TrafficEstimation, unknown> = exact<TrafficEstimation>('TrafficEstimation', {
  disabled: withDefault(flag, false),
  expectedSignatures: withDefault(repeated(text), []),
});
