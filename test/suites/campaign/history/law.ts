import { isLedgerError } from '../../../../src/errors/LedgerError.js';
import { describeError } from '../errors.js';
import { type History, type Recorded, seenOf } from './History.js';
import type { Listed, Participant } from './Participant.js';
import { changesLedger, type HistoryOutcome } from './play.js';
import { contractsOf } from './snapshot.js';
import { maxRequests } from './World.js';

/** What is wrong with an outcome by what is guaranteed; empty where nothing is. */
export const flawsOfHistory = (outcome: HistoryOutcome): readonly string[] => [
  ...(outcome.world.requests > maxRequests ? ['sends requests without end'] : []),
  ...(outcome.open > 0 ? [`${outcome.open} requests are left open`] : []),
  ...(isLog(outcome) ? flawsOfLog(outcome) : flawsOfStates(outcome)),
];

const isLog = ({ schedule }: HistoryOutcome): boolean =>
  schedule.reader === 'updates' || schedule.reader === 'processor';

/** A log emits the history of its selection: each update once, in the order of each synchronizer, and all of it. */
function flawsOfLog(outcome: HistoryOutcome): readonly string[] {
  const mixed = mixes(outcome);
  return [
    ...repetitions(outcome),
    ...mixed,
    ...disorders(outcome),
    ...(outcome.reading.error === undefined ? [...unnoticed(outcome), ...gaps(outcome)] : falseAlarms(outcome)),
  ];
}

function repetitions({ reading }: HistoryOutcome): readonly string[] {
  const seen = new Set<string>();
  return reading.emitted.flatMap(({ updateId, at }) => {
    if (!seen.has(updateId)) {
      seen.add(updateId);
      return [];
    }
    return [`${updateId} is emitted again at ${at}`];
  });
}

/** All that is emitted belongs to one history. */
function mixes(outcome: HistoryOutcome): readonly string[] {
  const { reading, histories } = outcome;
  const emitted = emittedRecords(outcome);
  const index = reading.emitted.findIndex(
    (_, i) =>
      !histories.some(
        (history) =>
          hasAll(history, reading.emitted.slice(0, i + 1)) || mayHaveAll(history, outcome, emitted.slice(0, i + 1)),
      ),
  );
  const first = reading.emitted[index];
  return first === undefined
    ? []
    : [`${first.updateId}, emitted at ${first.at}, is of another ledger than those before it`];
}

/** An update comes after a later one of its synchronizer only if it was not visible when the page of that was read. */
function disorders(outcome: HistoryOutcome): readonly string[] {
  const { world } = outcome;
  const emitted = emittedRecords(outcome);
  return emitted.flatMap((one, i) => {
    const later = emitted
      .slice(0, i)
      .find((other) => isLater(other, one) && world.visibleFrom(one) < world.sentAt(other.updateId));
    return later === undefined ? [] : [`${one.updateId} is emitted after ${later.updateId}`];
  });
}

const isLater = (one: Recorded, other: Recorded): boolean =>
  one.synchronizerId === other.synchronizerId && one.time > other.time;

/** Where another ledger has taken the place of the first, or another participant that is not wanted, the reader ends. */
function unnoticed(outcome: HistoryOutcome): readonly string[] {
  const { reading, world, schedule } = outcome;
  const last = reading.emitted.at(-1);
  const lost = emittedRecords(outcome).filter(({ updateId }) => !world.history.has(updateId));
  const isShown = lost.some(
    (record) => record.updateId === last?.updateId || isFollowed(world.node, record, world.sees),
  );
  if (isShown)
    return [`goes on, though the ledger does not have ${lost.map(({ updateId }) => updateId).join(', ')} any more`];
  if (last === undefined || schedule.onOtherNode === 'relocate') return [];
  const { participantId } = world.node;
  const isOther = world.led.every((led) => led.at > last.at || led.participantId !== participantId);
  // it was not told which one it read before the switch; a position that was stored names only what was told before
  const isStored = schedule.reader === 'updates' && schedule.steps.some(({ does }) => does === 'stop');
  const told = world.told.filter(({ at }) => !isStored || at < last.at);
  if (told.every((one) => one.participantId === participantId)) return [];
  return isOther ? [`goes on, though the participant is ${participantId}`] : [];
}

/** Whether a participant shows something later of a synchronizer. What is not there yet may still be read again. */
const isFollowed = ({ listing }: Participant, one: Recorded, sees: HistoryOutcome['world']['sees']): boolean =>
  listing.some(({ record }) => isLater(record, one) && seenOf(record, sees).length > 0);

/** What the reader has not emitted in the end. */
function gaps(outcome: HistoryOutcome): readonly string[] {
  const { reading, world, isBare } = outcome;
  if (isBare) return [];
  const emitted = new Set(reading.emitted.map(({ updateId }) => updateId));
  return world.node.listing.flatMap(({ record, offset }) => {
    const isMissing = seenOf(record, world.sees).length > 0 && !emitted.has(record.updateId);
    return isMissing && !appearedBehind(outcome, record) && !mayBeReadAgain(outcome, record)
      ? [`${record.updateId} at ${offset} is not emitted`]
      : [];
  });
}

/**
 * Whether an update comes before a lost one of its synchronizer that the reader has emitted. Until something later than that
 * shows the loss, the participant may be reading again, and what it has read again is left out by record time.
 */
const mayBeReadAgain = (outcome: HistoryOutcome, record: Recorded): boolean =>
  emittedRecords(outcome).some((emitted) => !outcome.world.history.has(emitted.updateId) && isLater(emitted, record));

/** Whether an update became visible when the reader had read on: a later one is in a page that began before, or after it. */
function appearedBehind(outcome: HistoryOutcome, record: Recorded): boolean {
  const { world, schedule } = outcome;
  const from = world.visibleFrom(record);
  if (from < 0) return false;
  if (world.nodes.some(({ listing, pruned }) => listing.some((at) => at.record === record && at.offset <= pruned)))
    return true;
  const ids = outcome.reading.emitted.map(({ updateId }) => updateId);
  const offsetIn = (order: readonly Listed[]): number =>
    order.find((listed) => listed.record === record)?.offset ?? Infinity;
  const before = new Set(
    ids.filter((id) => world.sent.get(id)?.some(({ at, begin, order }) => at <= from || begin >= offsetIn(order))),
  );
  const isPassed = world.nodes.some(({ orders }) =>
    orders.some((order) => {
      const index = order.findIndex((listed) => listed.record.updateId === record.updateId);
      return index >= 0 && order.slice(index + 1).some((listed) => before.has(listed.record.updateId));
    }),
  );
  // by record time, a checkpoint is as good as an update
  const goesByTime = schedule.steps.some(changesLedger);
  return (
    isPassed ||
    (goesByTime &&
      world.checkpoints.some(({ at, times }) => at <= from && (times.get(record.synchronizerId) ?? 0) >= record.time))
  );
}

/** An end that nothing justifies. */
function falseAlarms(outcome: HistoryOutcome): readonly string[] {
  const { reading } = outcome;
  const { error } = reading;
  const isReset = isLedgerError(error, 'LedgerResetError') || isLedgerError(error, 'CursorError');
  const isPruned = isLedgerError(error, 'PrunedError');
  if ((isReset && mayBeAnother(outcome)) || ((isReset || isPruned) && mayBePruned(outcome))) return [];
  return [`ends with ${describeError(error)} at ${String(reading.endedAt)}`];
}

/** Whether the address has led to a ledger that is not the reader's, or to a participant that it does not want. */
function mayBeAnother({ world, reading, schedule, histories }: HistoryOutcome): boolean {
  const participants = new Set(world.led.map(({ participantId }) => participantId));
  if (reading.emitted.length === 0) return histories.length + participants.size > 2;
  if (schedule.onOtherNode === 'fail' && participants.size > 1) return true;
  return world.led.some(({ history }) => !hasAll(history, reading.emitted));
}

/** Whether a participant lacks something after what the reader has. */
function mayBePruned({ world, reading, schedule }: HistoryOutcome): boolean {
  const nodes = new Set(world.led.map(({ node }) => node));
  const goesBack = schedule.steps.some(changesLedger);
  const isPruned = ({ pruned, listing }: Participant): boolean => pruned > reachOf(listing, reading, goesBack);
  return [...nodes].some(isPruned) || (goesBack && schedule.steps.some(({ does }) => does === 'prune'));
}

/** The offset of the last update that was emitted; of a reader that goes by record time, the least of each synchronizer. */
function reachOf(listing: readonly Listed[], { emitted }: HistoryOutcome['reading'], goesBack: boolean): number {
  const last = new Map<string, number>();
  const ids = new Set(emitted.map(({ updateId }) => updateId));
  for (const { record, offset } of listing) if (ids.has(record.updateId)) last.set(record.synchronizerId, offset);
  if (last.size === 0) return 0;
  return goesBack ? Math.min(...last.values()) : Math.max(...last.values());
}

/**
 * Whether a history has the last two updates, and what it lacks may still have been read again when the last one was sent:
 * nothing later of that synchronizer had been sent.
 */
function mayHaveAll(history: History, { world }: HistoryOutcome, emitted: readonly Recorded[]): boolean {
  const sentAt = world.sentAt(emitted.at(-1)?.updateId ?? '');
  const sent = [...history.records.values()].flat().filter(({ updateId }) => world.sentAt(updateId) <= sentAt);
  const lost = emitted.filter(({ updateId }) => !history.has(updateId));
  return hasAll(history, emitted.slice(-2)) && !lost.some((one) => sent.some((other) => isLater(other, one)));
}

const hasAll = (history: History, emitted: readonly { readonly updateId: string }[]): boolean =>
  emitted.every(({ updateId }) => history.has(updateId));

function emittedRecords({ reading, histories }: HistoryOutcome): readonly Recorded[] {
  const records = new Map(
    histories.flatMap((history) => [...history.records.values()].flat().map((record) => [record.updateId, record])),
  );
  return reading.emitted.flatMap(({ updateId }) => records.get(updateId) ?? []);
}

/** A state is that of a participant at an offset, and in the end that of a fresh snapshot. */
function flawsOfStates(outcome: HistoryOutcome): readonly string[] {
  const { reading, world, histories, schedule } = outcome;
  if (reading.error !== undefined)
    return isUnwanted(outcome) ? [] : [`ends with ${describeError(reading.error)} at ${String(reading.endedAt)}`];
  const orders = world.nodes.flatMap((node) => node.orders);
  const goesElsewhere = schedule.steps.some(changesLedger);
  const wrong = reading.states.flatMap(({ contractIds, offset, at }, i) =>
    // at other offsets, the state is ahead of them until what was read before was passed, and the position has those of before
    (goesElsewhere && reading.states[i - 1]?.offset === offset) ||
    orders.some((order) => isStateOf(order, contractIds, offset, goesElsewhere ? reading.states[i - 1] : undefined))
      ? []
      : [`at ${at} it has [${contractIds.join()}], as of ${offset}`],
  );
  const last = reading.states.at(-1);
  const { node } = world;
  const expected = [...contractsOf(node.listing, node.end, world.sees).keys()].sort();
  const isOther =
    histories.length > 1 || (schedule.onOtherNode === 'fail' && world.led.some((led) => led.node !== node));
  return [
    ...wrong.slice(0, 1),
    ...(last?.contractIds.toSorted().join() === expected.join()
      ? []
      : [`has [${last?.contractIds.toSorted().join() ?? ''}] in the end, not [${expected.join()}]`]),
    ...(isOther
      ? []
      : reading.resets
          .filter(({ reason }) => reason === 'ledgerReset')
          .map(({ at }) => `takes the ledger for another one at ${at}`)),
  ];
}

/** Whether a table was refused by another participant. */
function isUnwanted({ reading, schedule, world }: HistoryOutcome): boolean {
  const participants = new Set(world.led.map(({ participantId }) => participantId));
  const isRefused = isLedgerError(reading.error, 'CursorError') || isLedgerError(reading.error, 'LedgerResetError');
  return isRefused && schedule.onOtherNode === 'fail' && participants.size > 1;
}

/**
 * Whether contracts are those of an order at an offset. Such as became visible later may be missing, and the contracts may be
 * as they were before.
 */
function isStateOf(
  order: readonly Listed[],
  contractIds: readonly string[],
  offset: number,
  before?: { readonly contractIds: readonly string[] },
): boolean {
  const seen = contractsOf(order, offset, (sight) => sight !== 'never');
  const always = contractsOf(order, offset, (sight) => sight === 'always');
  const has = new Set(contractIds);
  const had = before && new Set(before.contractIds);
  return (
    contractIds.every((id) => seen.has(id) || had?.has(id) === true) &&
    [...always.keys()].every((id) => has.has(id) || had?.has(id) === false)
  );
}
