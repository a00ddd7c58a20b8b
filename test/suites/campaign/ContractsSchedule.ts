import fc from 'fast-check';
import { contractHistories, type HistoryUpdate } from '../../helpers/contractHistory.js';
import type { VirtualContractsOptions } from '../../helpers/virtualContracts.js';

/** What goes wrong with one request. */
export type RequestFault =
  'cut' | 'hang' | 'status503' | 'slow503' | 'backpressure' | 'truncated' | 'unauthorized' | 'badGateway';

/** What happens to the participant at a time. */
export type Incident = { readonly atMs: number } & (
  | { readonly kind: 'commit'; readonly count: number }
  | { readonly kind: 'disconnect' }
  | { readonly kind: 'prune'; readonly percent: number }
  /** Updates are committed and pruned while the client is cut off. */
  | { readonly kind: 'leap'; readonly count: number; readonly percent: number }
  | { readonly kind: 'release'; readonly release: keyof typeof releases }
  | { readonly kind: 'otherNode'; readonly node: string }
  | { readonly kind: 'advance'; readonly offsets: number }
);

/** How the releases serve snapshots and updates. */
export const releases = {
  '3.4': {
    pages: 'gone',
    hasTokens: false,
    earlyCheckpointMs: undefined,
    flats: 'served',
    mustAskForIncomplete: false,
  },
  '3.5.5': { pages: 'gone', hasTokens: true, earlyCheckpointMs: 500, flats: 'served', mustAskForIncomplete: false },
  '3.5.10': { pages: 'served', hasTokens: true, earlyCheckpointMs: 500, flats: 'served', mustAskForIncomplete: false },
  '3.6': { pages: 'served', hasTokens: true, earlyCheckpointMs: 500, flats: 'disabled', mustAskForIncomplete: false },
  '3.7': { pages: 'served', hasTokens: true, earlyCheckpointMs: 500, flats: 'gone', mustAskForIncomplete: true },
} as const satisfies Readonly<Record<string, VirtualContractsOptions>>;

/** A history of contracts, and what happens while a client follows it. */
export interface ContractsSchedule {
  /** Seeds the delays of the client. */
  readonly seed: number;
  readonly history: readonly HistoryUpdate[];
  /** How many updates there are before the client starts, in per cent. */
  readonly known: number;
  /** Where the client resumes, in per cent of what is known; `null` if it begins with all contracts. */
  readonly resumesAt: number | null;
  readonly release: keyof typeof releases;
  readonly hasSocket: boolean;
  readonly maxListElements: number;
  readonly maxSnapshotPageSize: number;
  readonly maxPageSize: number;
  readonly latencyMs: number;
  /** The faults of requests, by their numbers. */
  readonly faults: readonly { readonly after: number; readonly fault: RequestFault }[];
  /** After how many elements sockets are cut. */
  readonly socketCuts: readonly number[];
  /** In any order. */
  readonly incidents: readonly Incident[];
  /** When an older backup is restored, and to how many per cent of the updates; `null` for never. */
  readonly restore: { readonly atMs: number; readonly percent: number } | null;
}

/** When the incidents of a schedule are over. */
export const incidentsEndMs = 60_000;

const atMs = fc.oneof(fc.nat(100), fc.nat(incidentsEndMs));
const percent = fc.nat(100);
const release = fc.constantFrom(...(['3.4', '3.5.5', '3.5.10', '3.6', '3.7'] as const));

const fault = fc.constantFrom<RequestFault>(
  'cut',
  'hang',
  'status503',
  'slow503',
  'backpressure',
  'truncated',
  'unauthorized',
  'badGateway',
);

const commit = fc.record({ kind: fc.constant('commit' as const), atMs, count: fc.integer({ min: 1, max: 5 }) });

const incident: fc.Arbitrary<Incident> = fc.oneof(
  { arbitrary: commit, weight: 4 },
  fc.record({ kind: fc.constant('disconnect' as const), atMs }),
  fc.record({ kind: fc.constant('prune' as const), atMs, percent }),
  fc.record({
    kind: fc.constant('leap' as const),
    atMs,
    count: fc.integer({ min: 1, max: 9 }),
    percent: fc.integer({ min: 50, max: 100 }),
  }),
  fc.record({ kind: fc.constant('release' as const), atMs, release }),
  fc.record({ kind: fc.constant('otherNode' as const), atMs, node: fc.constantFrom('node-1', 'node-2') }),
  fc.record({ kind: fc.constant('advance' as const), atMs, offsets: fc.integer({ min: 1, max: 3 }) }),
);

/** Schedules from which a client recovers. */
export const contractsSchedule: fc.Arbitrary<ContractsSchedule> = fc.record({
  seed: fc.nat(),
  history: contractHistories({ maxEvents: 40 }),
  known: percent,
  resumesAt: fc.option(percent, { freq: 2 }),
  release,
  hasSocket: fc.boolean(),
  maxListElements: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(200)),
  maxSnapshotPageSize: fc.integer({ min: 1, max: 12 }),
  maxPageSize: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(200)),
  latencyMs: fc.nat(50),
  faults: fc.array(fc.record({ after: fc.nat(25), fault }), { maxLength: 10 }),
  socketCuts: fc.array(fc.nat(6), { maxLength: 4 }),
  incidents: fc.array(incident, { maxLength: 14, size: 'max' }),
  restore: fc.constant(null),
});

/** The same, with the restore of an older backup in between. */
export const restoredContracts: fc.Arbitrary<ContractsSchedule> = fc
  .tuple(contractsSchedule, fc.record({ atMs, percent }))
  .map(([schedule, restore]) => ({ ...schedule, restore }));
