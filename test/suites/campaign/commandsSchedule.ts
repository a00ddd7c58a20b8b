import fc from 'fast-check';
import type { DeduplicationPeriod } from '../../../src/index.js';
import { type CommandFault, type Loss, refusalCodes, rejectionCodes } from '../../helpers/CommandService.js';
import type { CommandPlan } from '../../helpers/virtualCommands.js';
import { type Answer, answers } from './commandsIngress.js';

/** What others do meanwhile, and when. */
export type Event =
  | { readonly kind: Happening; readonly atMs: number }
  /** The connection is cut for a while. */
  | { readonly kind: 'down'; readonly atMs: number; readonly forMs: number }
  /** For a while, an ingress answers all requests itself. */
  | ({ readonly kind: 'ingress'; readonly atMs: number; readonly forMs: number } & Replaced)
  /** The machine's clock is set. */
  | { readonly kind: 'clock'; readonly atMs: number; readonly byMs: number }
  /** A life of the submission ends, and another one begins. */
  | { readonly kind: 'live'; readonly atMs: number; readonly as: Life };

type Happening = (typeof happenings)[number];

const happenings = [
  'archive',
  'prune',
  'pruneOld',
  'other',
  'otherCommand',
  'otherUser',
  'superset',
  'supersetArchives',
  'foreignSuperset',
  'otherParties',
  'reassign',
  'restore',
  'replace',
  'replaceParticipant',
] as const;

/**
 * How a submission goes on: the same Observable again, a new call on the same Ledger, or a new process with `since`. For an outbox,
 * `restored` is a process whose database has lost that anything was sent; for others, it is the same as `process`.
 */
export type Life = 'again' | 'call' | 'process' | 'restored';

/** An answer in place of that of the participant. */
export interface Replaced {
  readonly by: Answer;
  /** Whether the participant gets the request. */
  readonly isForwarded: boolean;
}

export interface Schedule extends CommandPlan {
  readonly seed: number;
  /** Whether the transaction is signed by a party with its own key, or the commands are those of a hosted party. */
  readonly isSigned: boolean;
  /** What submits the commands of the hosted party, if it is not the caller. */
  readonly worker: 'rule' | 'outbox' | undefined;
  readonly events: readonly Event[];
  /** The answers to the first attempts that an ingress replaces. */
  readonly replaced: readonly (Replaced | null)[];
  readonly hasCommandId: boolean;
  /** Whether the hash of a signed transaction is given. */
  readonly knowsHash: boolean;
  readonly recovers: boolean;
  /** How long the participant must wait with each attempt. */
  readonly minLedgerTimeRel: number | undefined;
  /** The caller's deduplication period. */
  readonly period: DeduplicationPeriod | undefined;
}

const keysOf = <K extends string>(record: Readonly<Record<K, unknown>>): readonly K[] => Object.keys(record) as K[];

const loss = fc.constantFrom<Loss>('reset', 'silence', '503', '502', 'garbled');

const fault: fc.Arbitrary<CommandFault> = fc.oneof(
  fc.constant<CommandFault>({ kind: 'refusedConnection' }),
  fc.record({ kind: fc.constant('lostRequest' as const), how: loss }),
  fc.record({ kind: fc.constant('refused' as const), code: fc.constantFrom(...keysOf(refusalCodes)) }),
  fc.record({
    kind: fc.constant('rejected' as const),
    code: fc.constantFrom(...keysOf(rejectionCodes)),
    afterMs: fc.nat(5_000),
  }),
  fc.record({ kind: fc.constant('slow' as const), ms: fc.nat(110_000) }),
  fc.record({ kind: fc.constant('held' as const), ms: fc.oneof(fc.nat(30_000), fc.nat(100_000)) }),
  fc.record({ kind: fc.constant('lostResponse' as const), how: loss, afterMs: fc.nat(5_000) }),
  fc.record({
    kind: fc.constant('failedAfterCommit' as const),
    code: fc.constantFrom('UPDATE_NOT_FOUND' as const, 'INDEX_DB_SQL_TRANSIENT_ERROR' as const, 'NA' as const),
  }),
);

const atMs = fc.oneof(fc.nat(2_000), fc.nat(60_000), fc.nat(200_000));

const replaced: fc.Arbitrary<Replaced> = fc.record({
  by: fc.constantFrom(...keysOf(answers)),
  isForwarded: fc.boolean(),
});

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom(...happenings), atMs }) },
  fc.record({ kind: fc.constant('down' as const), atMs, forMs: fc.nat(30_000) }),
  fc
    .tuple(replaced, atMs, fc.nat(30_000))
    .map(([{ by }, at, forMs]): Event => ({ kind: 'ingress', atMs: at, forMs, by, isForwarded: false })),
  fc.record({ kind: fc.constant('clock' as const), atMs, byMs: fc.integer({ min: -3_600_000, max: 3_600_000 }) }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('live' as const),
      atMs,
      as: fc.constantFrom<Life>('again', 'call', 'process', 'restored'),
    }),
  },
);

const period: fc.Arbitrary<DeduplicationPeriod> = fc.oneof(
  fc.constant({ Empty: {} }),
  fc.constantFrom(0, 5, 10, 12, 999).map((value) => ({ DeduplicationOffset: { value } })),
  fc
    .record({ seconds: fc.constantFrom(0, 1, 10, 30, 60, 600, 86_400), nanos: fc.constantFrom(0, 1, 999_999_999) })
    .map((value) => ({ DeduplicationDuration: { value } })),
);

const anySchedule: fc.Arbitrary<Schedule> = fc.record<Schedule>({
  seed: fc.nat(),
  isSigned: fc.boolean(),
  worker: fc.constantFrom(undefined, undefined, 'rule' as const, 'outbox' as const),
  kind: fc.constantFrom('create' as const, 'consume' as const, 'nonConsuming' as const),
  latencyMs: fc.integer({ min: 1, max: 300 }),
  hasCheckpoints: fc.boolean(),
  completions: fc.constantFrom('completions' as const, 'command-completions' as const),
  faults: fc.array(fc.option(fault, { freq: 8 }), { maxLength: 6 }),
  replaced: fc.array(fc.option(replaced, { freq: 1 }), { maxLength: 4 }),
  events: fc.array(event, { maxLength: 4 }),
  hasCommandId: fc.boolean(),
  knowsHash: fc.boolean(),
  recovers: fc.boolean(),
  minLedgerTimeRel: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, 1, 24, 60),
  period: fc.option(period, { nil: undefined }),
});

/** A worker has command ids, and periods of its own: an outbox also takes an offset. */
export const schedule: fc.Arbitrary<Schedule> = anySchedule.map((plan) => {
  const { worker, period } = plan;
  if (worker === undefined) return plan;
  const isTaken = worker === 'outbox' && period !== undefined && 'DeduplicationOffset' in period;
  const isHeld = worker === 'outbox';
  return {
    ...plan,
    ...{ isSigned: false, hasCommandId: true, period: isTaken ? period : undefined },
    ...(!isHeld && { minLedgerTimeRel: undefined }),
  };
});
