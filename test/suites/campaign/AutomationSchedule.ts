import fc from 'fast-check';
import { type CommandFault, type Loss, refusalCodes, rejectionCodes } from '../../helpers/CommandService.js';

/** What a rule does with a contract. `touch` leaves no trace in the contracts, and `receipt` creates one. */
export type ActionKind = 'archive' | 'accept' | 'touch' | 'receipt';

/** A rule, and how it runs. */
export interface RulePlan {
  readonly action: ActionKind;
  /** Whether it says that its actions archive their contract. */
  readonly saysConsumes: boolean;
  /** Whether a receipt shows that the action was done. */
  readonly hasDone: boolean;
  readonly hasStore: boolean;
  /** Whether there are two rounds: a second one begins after a minute. */
  readonly hasRounds: boolean;
  readonly concurrency: number;
  /** How long it decides, in milliseconds; 0 for at once. */
  readonly decidesMs: number;
}

/** A contract. */
export interface ContractPlan {
  readonly atMs: number;
  readonly isSelected: boolean;
  /** When it is due, in milliseconds; absent at once. */
  readonly dueMs: number | 'never' | undefined;
  /** How many decisions on it fail, and how. */
  readonly badDecisions: number;
  readonly how: 'throws' | 'rejects' | 'hangs' | 'rubbish';
}

/** What happens meanwhile. */
export interface IncidentPlan {
  readonly kind: 'archive' | 'move' | 'prune' | 'down' | 'crash' | 'second' | 'stop' | 'replace';
  readonly atMs: number;
  /** The contract that it concerns. */
  readonly index: number;
  /** How long it lasts, in milliseconds. */
  readonly forMs: number;
}

export interface AutomationSchedule {
  readonly seed: number;
  readonly latencyMs: number;
  readonly commitMs: number;
  readonly rule: RulePlan;
  readonly contracts: readonly ContractPlan[];
  /** What happens to the first attempts, one after the other. */
  readonly faults: readonly (CommandFault | null)[];
  readonly incidents: readonly IncidentPlan[];
}

/** When the last incident begins, in milliseconds. */
export const incidentsEndMs = 100_000;

const loss = fc.constantFrom<Loss>('reset', 'silence', '503', '502', 'garbled');
const afterMs = fc.oneof(fc.nat(100), fc.nat(5_000));

const fault: fc.Arbitrary<CommandFault> = fc.oneof(
  fc.constant<CommandFault>({ kind: 'refusedConnection' }),
  fc.record({ kind: fc.constant('lostRequest' as const), how: loss }),
  fc.record({ kind: fc.constant('refused' as const), code: fc.constantFrom(...keysOf(refusalCodes)) }),
  fc.record({ kind: fc.constant('rejected' as const), code: fc.constantFrom(...keysOf(rejectionCodes)), afterMs }),
  fc.record({ kind: fc.constant('slow' as const), ms: fc.oneof(fc.nat(500), fc.nat(60_000)) }),
  fc.record({ kind: fc.constant('held' as const), ms: fc.nat(15_000) }),
  fc.record({ kind: fc.constant('lostResponse' as const), how: loss, afterMs }),
  fc.record({
    kind: fc.constant('failedAfterCommit' as const),
    code: fc.constantFrom('UPDATE_NOT_FOUND' as const, 'INDEX_DB_SQL_TRANSIENT_ERROR' as const, 'NA' as const),
  }),
);

const atMs = fc.oneof(fc.nat(500), fc.nat(5_000), fc.nat(incidentsEndMs));

/**
 * How long a run takes to read the contracts, in milliseconds. A ledger that is replaced between them and the first change shows
 * no outage.
 */
const startMs = 5_000;

/** Whether a run begins shortly before another incident. */
const startsBefore = ({ kind, atMs, forMs }: IncidentPlan, other: IncidentPlan): boolean => {
  const startsAt = kind === 'second' ? atMs : atMs + forMs;
  return ['crash', 'second', 'stop'].includes(kind) && startsAt <= other.atMs && startsAt > other.atMs - startMs;
};

const incident = (...kinds: IncidentPlan['kind'][]): fc.Arbitrary<IncidentPlan> =>
  fc.record({ kind: fc.constantFrom(...kinds), atMs, index: fc.nat(7), forMs: afterMs });

export const automationSchedule: fc.Arbitrary<AutomationSchedule> = fc.record({
  seed: fc.nat(),
  latencyMs: fc.integer({ min: 1, max: 200 }),
  commitMs: fc.integer({ min: 1, max: 300 }),
  rule: fc.record({
    action: fc.constantFrom<ActionKind>('archive', 'accept', 'touch', 'touch', 'receipt'),
    saysConsumes: fc.boolean(),
    hasDone: fc.boolean(),
    hasStore: fc.boolean(),
    hasRounds: fc.boolean(),
    concurrency: fc.integer({ min: 1, max: 4 }),
    decidesMs: fc.constantFrom(0, 0, 1, 10, 50, 1_500),
  }),
  contracts: fc.array(
    fc.record({
      atMs: fc.oneof(fc.constant(0), fc.constant(0), fc.nat(incidentsEndMs)),
      isSelected: fc.nat(5).map((n) => n > 0),
      dueMs: fc.oneof(fc.constant(undefined), fc.constant(undefined), fc.nat(90_000), fc.constant('never' as const)),
      badDecisions: fc.constantFrom(0, 0, 0, 0, 1, 3),
      how: fc.constantFrom('throws' as const, 'rejects' as const, 'hangs' as const, 'rubbish' as const),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  faults: fc.array(fc.option(fault, { freq: 3 }), { maxLength: 10 }),
  incidents: fc
    .tuple(
      fc.array(incident('archive', 'move', 'prune', 'prune', 'down', 'crash', 'crash', 'second', 'stop'), {
        maxLength: 6,
      }),
      fc.nat(7),
      incident('replace'),
    )
    .map(([some, chance, { atMs, ...replacement }]) => {
      const other = { ...replacement, atMs: Math.max(atMs, startMs) };
      return chance === 0 && !some.some((incident) => startsBefore(incident, other)) ? [...some, other] : some;
    }),
});

function keysOf<K extends string>(record: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(record) as K[];
}
