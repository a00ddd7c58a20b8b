import fc from 'fast-check';
import type { DeduplicationPeriod } from '../../../src/index.js';
import {
  lossReplies,
  immediateErrors,
  type Loss,
  type ImmediateError,
  type SubmissionFault,
  type SubmissionPlan,
} from '../../helpers/submissionPlan.js';

/** One run as plain data, so that the output of fast-check can be read and replayed. */
export interface Schedule extends SubmissionPlan {
  readonly requestTimeoutMs: number;
  /** `null` sends once. */
  readonly withinMs: number | null;
  readonly period: DeduplicationPeriod;
  /** Whether the caller passes the hash of the transaction. */
  readonly knowsHash: boolean;
  /** Whether the provider returns another token each time; `null` for no token. */
  readonly hasFreshTokens: boolean | null;
  /** How long the provider takes for each token; the last value applies to all further ones. */
  readonly tokenMs: readonly number[];
  /** When the same Observable is subscribed to again. */
  readonly subscribeAtMs: readonly number[];
  readonly unsubscribeAtMs: number | null;
  /** When others commit transactions. */
  readonly othersAtMs: readonly number[];
  /** The seed of the back-off's jitter. */
  readonly jitter: number;
}

const between = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });
const keysOf = <K extends string>(record: Readonly<Record<K, unknown>>): readonly K[] => Object.keys(record) as K[];

const loss = fc.constantFrom<Loss>(...keysOf(lossReplies));
const afterMs = fc.oneof(fc.constantFrom(0, 1, 20, 700), between(0, 7_000));

const receivedFault: fc.Arbitrary<SubmissionFault> = fc.oneof(
  fc.record({ kind: fc.constant('lost' as const), isReceived: fc.boolean(), how: loss, afterMs }),
  fc.record({ kind: fc.constant('lost' as const), isReceived: fc.constant(true), how: loss, afterMs }),
  fc.record({
    kind: fc.constant('garbled' as const),
    how: fc.constantFrom('cut' as const, 'undecodable' as const, 'huge' as const),
  }),
);
const unreceivedFault: fc.Arbitrary<SubmissionFault> = fc.oneof(
  fc.constant({ kind: 'refused' as const }),
  fc.record({
    kind: fc.constant('answered' as const),
    how: fc.constantFrom<ImmediateError>(...keysOf(immediateErrors)),
  }),
  fc.constant({ kind: 'contention' as const }),
  fc.constant({ kind: 'elsewhere' as const }),
);
const heldFault: fc.Arbitrary<SubmissionFault> = fc.record({
  kind: fc.constant('held' as const),
  ms: between(1, 40_000),
});

const faults = (fault: fc.Arbitrary<SubmissionFault>): SubmissionPlanFaults =>
  fc.array(fc.option(fault, { nil: null, freq: 8 }), { maxLength: 8, size: 'max' });
type SubmissionPlanFaults = fc.Arbitrary<SubmissionPlan['faults']>;

const seconds = (value: number): DeduplicationPeriod => ({ DeduplicationDuration: { value: { seconds: value } } });

const common = {
  latencyMs: fc.constantFrom(1, 7, 60, 400),
  commitMs: fc.array(fc.oneof(between(1, 900), between(1, 900), between(1, 12_000)), { minLength: 1, maxLength: 4 }),
  readFaults: faults(fc.oneof(receivedFault, unreceivedFault)),
  down: fc.option(
    fc.record({
      fromMs: fc.oneof(fc.constant(0), between(0, 20_000)),
      forMs: between(1, 60_000),
      how: fc.constantFrom<Loss | 'refused' | '404'>('refused', '404', '503 text', 'reset', 'silence'),
    }),
    { nil: null, freq: 1 },
  ),
  byOffset: fc.constantFrom('served' as const, 'gone' as const),
  ledgerEnd: fc.constantFrom(
    'served' as const,
    'served' as const,
    'served' as const,
    'gone' as const,
    'silent' as const,
    'slow' as const,
  ),
  completions: fc.constantFrom('served' as const, 'gone' as const),
  knowsHash: fc.boolean(),
  disconnected: fc.option(fc.record({ fromMs: between(0, 20_000), forMs: between(1, 30_000) }), { nil: null, freq: 1 }),
  isForged: fc.constant(false),
  expiresAtMs: fc.constant(null),
  requestTimeoutMs: fc.constantFrom(2_000, 5_000, 8_000),
  withinMs: fc.oneof(fc.constant(null), fc.constant(120_000), between(1, 120_000), between(30_000, 120_000)),
  hasFreshTokens: fc.constantFrom(null, true, true, false),
  tokenMs: fc.array(fc.oneof(fc.constant(0), between(0, 1_500)), { maxLength: 4 }),
  unsubscribeAtMs: fc.constant(null),
  othersAtMs: fc.array(between(0, 20_000), { maxLength: 4 }),
  jitter: fc.nat(),
};

/** All faults with a single subscription. Requests are held back only without a period, which would have to be longer. */
export const single: fc.Arbitrary<Schedule> = fc.oneof(
  fc.record({
    ...common,
    faults: faults(fc.oneof({ weight: 4, arbitrary: receivedFault }, { weight: 2, arbitrary: unreceivedFault })),
    period: fc.oneof(
      fc.constant({ Empty: {} }),
      between(0, 40).map(seconds),
      fc.constantFrom(0, 10).map((value) => ({ DeduplicationOffset: { value } })),
    ),
    subscribeAtMs: fc.constant([]),
  }),
  fc.record({
    ...common,
    faults: faults(fc.oneof({ weight: 3, arbitrary: receivedFault }, unreceivedFault, heldFault)),
    period: fc.constant({ Empty: {} }),
    subscribeAtMs: fc.constant([]),
  }),
);

/** Signed with another key, or out of its time bounds after some time. */
export const rejected: fc.Arbitrary<Schedule> = fc
  .tuple(single, fc.option(between(0, 30_000), { nil: null }))
  .map(([schedule, expiresAtMs]) => ({ ...schedule, expiresAtMs, isForged: expiresAtMs === null }));

/** Subscribed to once or twice more: at once, meanwhile, or long after. */
export const repeated: fc.Arbitrary<Schedule> = fc
  .tuple(
    single,
    fc.array(fc.oneof(fc.constantFrom(0, 3_600_000), between(0, 20_000), between(60_000, 400_000)), {
      minLength: 1,
      maxLength: 2,
    }),
  )
  .map(([schedule, subscribeAtMs]) => ({ ...schedule, subscribeAtMs }));

/** Unsubscribed at any time. */
export const unsubscribed: fc.Arbitrary<Schedule> = fc
  .tuple(repeated, between(0, 30_000))
  .map(([schedule, unsubscribeAtMs]) => ({ ...schedule, unsubscribeAtMs }));

/** No faults. */
export const calm: Schedule = {
  latencyMs: 10,
  commitMs: [200],
  faults: [],
  readFaults: [],
  down: null,
  byOffset: 'served',
  ledgerEnd: 'served',
  completions: 'gone',
  knowsHash: false,
  disconnected: null,
  isForged: false,
  expiresAtMs: null,
  requestTimeoutMs: 30_000,
  withinMs: 120_000,
  period: { Empty: {} },
  hasFreshTokens: null,
  tokenMs: [],
  subscribeAtMs: [],
  unsubscribeAtMs: null,
  othersAtMs: [],
  jitter: 1,
};
