import fc from 'fast-check';
import type { Fault, PushFault } from './Schedule.js';
import { passing, refusing, stopping, turning } from './statuses.js';

const kind = <K extends Fault['kind'] | PushFault['kind']>(name: K): fc.Arbitrary<K> => fc.constant(name);

const statusOf = (names: readonly string[]): fc.Arbitrary<Fault> =>
  fc.record({
    kind: kind('status'),
    status: fc.constantFrom(...names),
    afterMs: fc.oneof(
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.constantFrom(1_500, 7_000) },
    ),
  });

/** Faults of which a feed shows nothing but that it takes longer. */
export const passingFaultArbitrary: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 6, arbitrary: statusOf([...Object.keys(passing), ...Object.keys(turning)]) },
  fc.record({ kind: kind('reset'), afterMs: fc.constantFrom(0, 3, 2_000) }),
  { weight: 2, arbitrary: fc.record({ kind: kind('cut'), at: fc.integer({ min: 0, max: 999 }) }) },
  fc.record({ kind: kind('never') }),
  fc.record({ kind: kind('huge') }),
  fc.record({ kind: kind('late'), byMs: fc.integer({ min: 1, max: 20_000 }) }),
  fc.record({ kind: kind('twice') }),
  fc.record({ kind: kind('again'), count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: kind('stale') }),
  fc.record({ kind: kind('empty') }),
  fc.record({ kind: kind('short'), count: fc.nat({ max: 3 }) }),
);

/** Faults that end a feed at once. */
export const stoppingFaultArbitrary: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 3, arbitrary: statusOf(Object.keys(stopping)) },
  fc.record({ kind: kind('backwards') }),
  fc.record({ kind: kind('nowhere') }),
  fc.record({ kind: kind('undecodable'), at: fc.nat({ max: 30 }) }),
  fc.record({ kind: kind('no list') }),
);

export const faultArbitrary: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 4, arbitrary: passingFaultArbitrary },
  { weight: 1, arbitrary: stoppingFaultArbitrary },
);

const after = fc.nat({ max: 6 });

/** What happens to sockets. None of it ends a feed: what it means is found out by HTTP. */
export const passingPushArbitrary: fc.Arbitrary<PushFault> = fc.oneof(
  fc.record({ kind: kind('refused') }),
  fc.record({ kind: kind('never') }),
  { weight: 4, arbitrary: fc.record({ kind: kind('closed'), after, code: fc.constantFrom(1000, 1001, 1006, 1011) }) },
  fc.record({ kind: kind('silent'), after }),
  fc.record({ kind: kind('deaf'), after }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: kind('error'),
      after,
      status: fc.constantFrom(...Object.keys({ ...passing, ...stopping, ...refusing })),
    }),
  },
  fc.record({ kind: kind('torn'), after }),
  fc.record({ kind: kind('twice'), after }),
);

/** One of them brings what does not decode, too. */
export const stoppingPushArbitrary: fc.Arbitrary<PushFault> = fc.oneof(
  { weight: 3, arbitrary: passingPushArbitrary },
  { weight: 1, arbitrary: fc.record({ kind: kind('undecodable'), after, at: fc.constant(0) }) },
);
