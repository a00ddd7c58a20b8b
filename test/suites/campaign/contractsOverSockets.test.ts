import process from 'node:process';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ContractChange } from '../../../src/contracts/ContractChange.js';
import { contractChanges } from '../../../src/contracts/contractChanges.js';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import type { Sandbox, WireUpdate } from '../../../src/sandbox/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import type { ContractState } from '../../helpers/contractHistory.js';
import { useProcessTime } from '../../helpers/time.js';
import { secretsIn } from '../security/secretsIn.js';
import { ContractsAudit, type States, type Truth } from './ContractsAudit.js';
import { campaignRuns, checkInLanes, formatCounts, increase } from './runs.js';
import { socketSchedule, type SocketSchedule } from './SocketSchedule.js';
import { socketWorld, type WatchedFeed, watchFeed } from './socketWorld.js';

const { numRuns, seed, isMany } = campaignRuns(5, 200);
const counts = new Map<string, number>();
afterAll(() => {
  process.stdout.write(`campaign: contracts over sockets ${formatCounts(counts)}\n`);
});

/** How a client reads the contracts of a ledger, and what happens meanwhile. */
interface ContractsOverSockets {
  readonly schedule: SocketSchedule;
  readonly maxSnapshotPageSize: number;
  readonly resumes: boolean;
}

const contractsOverSockets: fc.Arbitrary<ContractsOverSockets> = fc.record({
  schedule: fc.tuple(socketSchedule, fc.boolean()).map(([schedule, prunes]) => ({
    ...schedule,
    prunes,
    // a snapshot takes longer than a page
    prunesAtMs: schedule.prunesAtMs * 8,
    expiresAtMs: schedule.expiresAtMs * 8,
    actions: schedule.actions.map(({ action, atMs }) => ({ action, atMs: atMs * 8 })),
    // serves no contracts
    interfaceOnly: false,
    // a list of contracts that lacks some, and says nothing of it, cannot be recognized; and the last update, repeated, fills a
    // page of two, so that nothing shows what comes after it
    faults: schedule.faults.filter(
      ({ fault }) =>
        fault.kind !== 'rewrite' ||
        (fault.how !== 'shortened' && (fault.how !== 'doubled' || schedule.maxPageSize > 2)),
    ),
    // nor can a snapshot that ends early with the code that says that it is complete
    socketFaults: schedule.socketFaults.map((fault) =>
      fault.how === 'close' && fault.code === 1000 ? { ...fault, code: 1001 } : fault,
    ),
  })),
  maxSnapshotPageSize: fc.integer({ min: 1, max: 40 }),
  resumes: fc.boolean(),
});

/** The contracts after all updates up to an offset: those that are not archived, where their last reassignment says. */
function statesAt(updates: readonly WireUpdate[], end: number): States {
  const states = new Map<string, ContractState>();
  const archived = new Set<string>();
  const setState = (contractId: string, state: ContractState): void => {
    const known = states.get(contractId);
    const isInFlight = 'inFlight' in state.location;
    // an assignment has the number of its unassignment, and comes after it
    const isNewer = known === undefined || known.reassignmentCounter < state.reassignmentCounter + (isInFlight ? 0 : 1);
    if (isNewer) states.set(contractId, state);
  };
  for (const update of updates) {
    if (updateValue(update).offset > end) break;
    if ('Transaction' in update) {
      const { events, synchronizerId } = update.Transaction.value;
      for (const event of events) {
        if ('ArchivedEvent' in event) archived.add(event.ArchivedEvent.contractId);
        if ('CreatedEvent' in event && event.CreatedEvent.acsDelta)
          setState(event.CreatedEvent.contractId, { location: { synchronizerId }, reassignmentCounter: 0 });
      }
    } else if ('Reassignment' in update) {
      for (const event of update.Reassignment.value.events) {
        if ('JsAssignmentEvent' in event) {
          const { target: synchronizerId, reassignmentCounter, createdEvent } = event.JsAssignmentEvent;
          setState(createdEvent.contractId, { location: { synchronizerId }, reassignmentCounter });
        } else {
          const { contractId, source, target, reassignmentCounter } = event.JsUnassignedEvent.value;
          setState(contractId, { location: { inFlight: { source, target } }, reassignmentCounter });
        }
      }
    }
  }
  return new Map([...states].filter(([contractId]) => !archived.has(contractId)));
}

const truthOf = ({ updates }: Sandbox): Truth => ({
  offsets: () => updates.map((update) => updateValue(update).offset),
  statesAt: (offset) => statesAt(updates, offset),
});

/** Plays a schedule to a client until it has come to the last update, or has ended. */
async function play({ schedule, maxSnapshotPageSize, resumes }: ContractsOverSockets): Promise<void> {
  const world = await socketWorld(schedule);
  const { sandbox, client } = world;
  try {
    const resumeFrom = resumes ? world.beginExclusive : undefined;
    const options = { maxSnapshotPageSize, maxPageSize: schedule.maxPageSize, idleTimeoutMs: 50, resumeFrom };
    const changes$ = contractChanges(client, { parties: 'any' }, options);
    const lastOffset = (): number => truthOf(sandbox).offsets().at(-1) ?? 0;
    const seen = await watchFeed<ContractChange>(
      client,
      changes$,
      world.run,
      ({ updates }) => hasCaughtUp(updates) && (updates.at(-1)?.offset ?? -1) >= lastOffset(),
    );
    const audit = new ContractsAudit(truthOf(sandbox), resumeFrom);
    for (const change of seen.updates) audit.add(change);
    expect(audit.flaws).toEqual([]);
    expect(secretsIn([seen.error, seen.events], ['TOKEN-SECRET'])).toEqual([]);
    if (!isExpected(seen, schedule, sandbox)) expect(seen.error).toBeUndefined();
    increase(counts, isLedgerError(seen.error) ? seen.error._tag : 'complete');
    increase(counts, 'changes', audit.changes);
    for (const reason of audit.resets) increase(counts, `reset by ${reason}`);
    for (const { _tag } of seen.events) increase(counts, _tag);
  } finally {
    await sandbox.close();
  }
}

const hasCaughtUp = (changes: readonly ContractChange[]): boolean =>
  changes.findLast(({ _tag }) => _tag === 'CaughtUp' || _tag === 'FellBehind')?._tag === 'CaughtUp';

/**
 * Whether the contracts cannot be read, because a release before 3.5 is asked over HTTP: there are more than it sends at
 * once, or all of them were requested twice, which takes too long on a busy machine.
 */
const isExpected = (
  { error, events }: Pick<WatchedFeed, 'error' | 'events'>,
  schedule: SocketSchedule,
  { updates }: Sandbox,
): boolean => {
  const { profile, transport, actions, maxListElements } = schedule;
  const changes = actions.map(({ action }) => action);
  const isOld = [profile, ...changes.map((change) => change.kind === 'profile' && change.profile)].some(
    (release) => release !== false && release < '3.5',
  );
  if (transport !== 'http' || !isOld || !isLedgerError(error, 'SnapshotLimitError')) return false;
  const limits = [
    maxListElements,
    ...changes.map((change) => (change.kind === 'restart' ? change.maxListElements : Infinity)),
  ];
  // each attempt begins with a list of limited size; a request may be lost while the service restarts
  const lists = events.filter((event) => event._tag === 'SnapshotStarted' && event.by === 'lists');
  return countEntries(updates, error.activeAtOffset) > Math.min(...limits) || lists.length >= 4;
};

/**
 * The most entries that a list may have. Half of a reassignment is an entry of its own, and without the other half, the
 * contract stays active on the other synchronizer, also after it was archived.
 */
const countEntries = (updates: readonly WireUpdate[], end: number): number => {
  const halves = updates.flatMap((update) =>
    'Reassignment' in update && update.Reassignment.value.offset <= end ? update.Reassignment.value.events : [],
  );
  return statesAt(updates, end).size + 2 * halves.length;
};

// retry budgets count processor time, not the waits of a busy machine
beforeEach(() => {
  useProcessTime();
});

describe('over real sockets, the contracts after each change', () => {
  it('are exactly those of the ledger, through every fault of the service and of the connections', async () => {
    await checkInLanes(fc.asyncProperty(contractsOverSockets, play), { runs: numRuns, seed, lanes: 16 });
    if (isMany) expect(counts.get('complete')).toBeGreaterThan(numRuns / 4);
    if (isMany) expect(counts.get('changes')).toBeGreaterThan(numRuns);
  }, 1_800_000);
});
