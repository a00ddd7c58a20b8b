import fc from 'fast-check';
import { anyFault, passingFault, passingSocketFault, stoppingFault } from './faults.js';
import { poolSize } from './growingLedger.js';
import type {
  Change,
  FaultRule,
  GapChoice,
  Growth,
  ProfileName,
  Replacement,
  Schedule,
  SocketFault,
  SocketFaultRule,
} from './Schedule.js';
import { passing, refusing } from './statuses.js';

const between = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });
const optional = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | null> => fc.option(arbitrary, { nil: null });

const growth: fc.Arbitrary<Growth> = fc.record({
  gap: fc.oneof(fc.constant(1), between(1, 40), between(1, 5_000)),
  sample: fc.oneof(
    { weight: 6, arbitrary: fc.nat({ max: poolSize - 1 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  afterMs: fc.oneof(fc.constant(0), between(1, 50), between(1, 2_500)),
});

const ruleWith = (fault: FaultRule['fault'] extends infer F ? fc.Arbitrary<F> : never): fc.Arbitrary<FaultRule> =>
  fc.record({
    on: fc.constantFrom<FaultRule['on']>('any', 'page', 'bounded', 'poll', 'end'),
    when: fc.oneof(
      { weight: 3, arbitrary: fc.record({ request: between(1, 40) }) },
      { weight: 1, arbitrary: fc.record({ fromMs: between(0, 30_000), forMs: between(1, 12_000) }) },
    ),
    fault,
  });

const served: readonly ProfileName[] = ['3.4', '3.5', '3.6 disabled', '3.6 gone'];
const profile = fc.constantFrom<ProfileName>('interface', ...served);

const restart: fc.Arbitrary<Change> = fc.record({
  kind: fc.constant('restart' as const),
  atMs: between(0, 30_000),
  maxListElements: between(1, 40),
});

/** To a later version only. A service of the interface document alone has no other path: its replicas cannot be mixed with those of 3.6. */
const upgrade = (from: ProfileName): fc.Arbitrary<Change> =>
  fc.record({
    kind: fc.constant('upgrade' as const),
    atMs: between(0, 30_000),
    rollingMs: from === 'interface' ? fc.constant(0) : between(0, 15_000),
    to: fc.constantFrom<ProfileName>(...served.slice(Math.max(0, served.indexOf(from)))),
  });

const fields = {
  ledger: fc.array(growth, { maxLength: 80, size: 'max' }),
  known: fc.nat({ max: 80 }),
  begin: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, between(0, 1_000)),
  bound: fc.oneof(fc.constant(null), between(1, 300), between(1, 60_000)),
  isDownward: fc.constant(false),
  latencyMs: fc.constantFrom(1, 7, 60, 400),
  spreadMs: fc.constantFrom(0, 0, 30, 500),
  maxListElements: between(1, 40),
  checkpointMs: optional(fc.constantFrom(0, 1, 300, 499, 501, 900, 2_000)),
  faults: fc.array(ruleWith(passingFault), { maxLength: 30, size: 'max' }),
  lag: optional(fc.record({ fromMs: between(0, 20_000), forMs: between(1, 4_000), by: between(1, 60) })),
  token: optional(
    fc.record({
      validMs: between(15_000, 25_000),
      cachedMs: between(0, 15_000),
      refusal: fc.constantFrom(...Object.keys(refusing)),
      trouble: optional(
        fc.record({
          kind: fc.constantFrom('fails' as const, 'hangs' as const),
          fromMs: between(0, 20_000),
          forMs: between(1, 10_000),
        }),
      ),
    }),
  ),
  maxPageSize: between(1, 30),
  parallelRanges: fc.constantFrom(1, null, 2, 3, 5, 16),
  idleTimeoutMs: fc.constantFrom(1, 400, 1_500, 5_000),
  giveUpAfterMs: fc.constant(1_000_000),
  onGap: fc.constant(null),
  socketFaults: fc.constant(null),
  isLegacy: fc.boolean(),
  jitter: fc.nat(),
};

type Fields = { readonly [K in keyof Omit<Schedule, 'profile' | 'changes'>]?: fc.Arbitrary<Schedule[K]> };

const scheduleWith = (
  other: Fields,
  changesOf: (from: ProfileName) => fc.Arbitrary<readonly Change[]>,
): fc.Arbitrary<Schedule> =>
  profile.chain((from) => fc.record({ ...fields, ...other, profile: fc.constant(from), changes: changesOf(from) }));

const restartsAndUpgrades = (from: ProfileName): fc.Arbitrary<readonly Change[]> =>
  fc
    .tuple(fc.array(restart, { maxLength: 2 }), fc.array(upgrade(from), { maxLength: 1 }))
    .map(([restarts, upgrades]) => [...restarts, ...upgrades]);
const noChanges = (): fc.Arbitrary<readonly Change[]> => fc.constant([]);

const calm: Fields = { faults: fc.constant([]), lag: fc.constant(null), token: fc.constant(null) };
const few = fc.array(ruleWith(passingFault), { maxLength: 6 });

/** Faults that a feed must outlive. */
export const passingSchedule = scheduleWith({}, restartsAndUpgrades);

/** In descending order, where a page has at least two elements, and its bound is reached from the start. */
export const downwardSchedule = scheduleWith(
  {
    isDownward: fc.constant(true),
    bound: between(1, 2_000),
    maxListElements: between(4, 40),
    faults: fc.array(ruleWith(passingFault), { maxLength: 3 }),
  },
  noChanges,
);

/** Among the faults is an answer that ends the feed, if the feed gets that far. */
export const stoppingSchedule = scheduleWith(
  {
    faults: fc
      .tuple(ruleWith(stoppingFault), few)
      .map(([{ on, when, fault }, others]) => [
        { on, when: 'request' in when ? { request: (when.request % 15) + 1 } : when, fault },
        ...others,
      ]),
    // with 0, a single element is more than a page may have
    maxListElements: fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 5, arbitrary: between(1, 40) }),
  },
  noChanges,
);

const gapChoice = fc.constantFrom<GapChoice | null>(null, 'offered', 'ledger end', 'nothing', 'behind', 'later');

/** The participant is pruned one to three times, sometimes beyond the cursor. */
export const prunedSchedule = scheduleWith({ faults: few, onGap: gapChoice, token: fc.constant(null) }, () =>
  fc.array(
    fc.record({
      kind: fc.constant('prune' as const),
      atMs: fc.oneof(between(0, 100), between(0, 1_000), between(0, 20_000)),
      share: between(0, 1_000),
    }),
    { minLength: 1, maxLength: 3 },
  ),
);

/** The participant is restored from an older backup. */
export const restoredSchedule = scheduleWith(
  { ...calm, onGap: gapChoice, bound: fc.constant(null), giveUpAfterMs: fc.constant(10_000) },
  () =>
    fc.tuple(
      fc.record({
        kind: fc.constant('restore' as const),
        atMs: between(0, 30_000),
        back: fc.oneof(between(1, 50), between(1, 5_000)),
      }),
    ),
);

/** While a feed catches up, a request is always open. On a quiet ledger, there is up to a second between two polls. */
const replacement: fc.Arbitrary<Replacement> = fc.record({
  kind: fc.constant('replace' as const),
  atMs: fc.oneof(between(0, 200), between(0, 2_000), between(0, 30_000)),
  downMs: between(1_000, 20_000),
  shared: fc.oneof(fc.constant(0), between(0, 1_000)),
  growth: fc.array(growth, { maxLength: 100, size: 'max' }),
  isOtherParticipant: fc.boolean(),
});

/** After some restarts, another ledger is at the address: of another participant, or of the same one from a backup. */
export const replacedSchedule = scheduleWith(
  { faults: few, token: fc.constant(null), giveUpAfterMs: fc.constant(30_000) },
  () => fc.tuple(fc.array(restart, { maxLength: 2 }), replacement).map((changes) => changes.flat()),
);

/** The service is down for less or for more than the feed's retry budget. */
export const outageSchedule = scheduleWith(
  {
    ...calm,
    giveUpAfterMs: fc.constantFrom(0, 1_000, 5_000, 20_000),
    faults: fc
      .record({
        on: fc.constantFrom<FaultRule['on']>('any', 'page'),
        when: fc.record({ fromMs: between(0, 20_000), forMs: fc.constantFrom(500, 3_500, 15_000, 70_000) }),
        fault: fc.oneof(
          fc.record({
            kind: fc.constant('status' as const),
            status: fc.constantFrom(...Object.keys(passing)),
            afterMs: fc.constant(0),
          }),
          fc.constant({ kind: 'reset' as const, afterMs: 0 }),
          fc.record({ kind: fc.constant('cut' as const), at: between(0, 999) }),
        ),
      })
      .map((rule) => [rule]),
  },
  noChanges,
);

/** Tokens that expire too soon, or that the provider does not renew. */
export const tokenSchedule = scheduleWith(
  {
    faults: fc.array(ruleWith(anyFault), { maxLength: 4 }),
    token: fc.record({
      validMs: between(0, 12_000),
      cachedMs: fc.oneof(fc.constant(0), between(0, 40_000)),
      refusal: fc.constantFrom(...Object.keys(refusing)),
      trouble: fc.constant(null),
    }),
  },
  noChanges,
);

const socketRules = (fault: fc.Arbitrary<SocketFault>): fc.Arbitrary<readonly SocketFaultRule[]> =>
  fc.array(fc.record({ socket: between(1, 12), fault }), { maxLength: 12, size: 'max' });

/** The same for a feed that follows by sockets, which have faults of their own. */
export const bySocket = (
  schedule: fc.Arbitrary<Schedule>,
  fault: fc.Arbitrary<SocketFault> = passingSocketFault,
): fc.Arbitrary<Schedule> =>
  fc
    .tuple(schedule, socketRules(fault))
    .map(([given, socketFaults]) => ({ ...given, bound: null, isDownward: false, socketFaults }));
