import { catchError, concatMap, defer, EMPTY, map, type Observable, of } from 'rxjs';
import type { Party } from '../../codecs/scalars.js';
import { isEndBeforeCursor } from '../../feed/pageRequest.js';
import { positionAt } from '../../feed/positionAt.js';
import type { AnyFeed } from '../../feed/LedgerFeed.js';
import { monotonicNow } from '../../http/clock.js';
import { bareOffset, type LedgerPosition } from '../../codecs/LedgerPosition.js';
import type { AnyContract } from '../Contract.js';
import { type ContractsBatch, type ContractsReconciled, isDifference } from '../ContractChange.js';
import type { Followed, Progress } from '../followChanges.js';
import { type LoadedContracts, readContracts } from '../readContracts.js';
import { UnpairedError } from '../snapshot/pairHalves.js';
import { here, isStill, MovedError, withPosition } from '../withPosition.js';
import { findBy } from './findBy.js';
import { isNobody, type Parties, type Selection } from './Selection.js';

/** The progress of a feed, and of which parties it is. */
export interface SelectedProgress extends Progress {
  parties: Parties;
  /** Whether the ledger did not have the newest contract when contracts were last read for the first party. */
  isDoubtful: boolean;
}

/** How to read the contracts of a selection. */
interface Readable {
  readonly selection: Selection;
  readonly of: (parties: Parties) => Followed;
}

/**
 * Takes over the parties that are selected now. Reads only what the new ones see, at the offset that was reached. What has
 * changed meanwhile is left to the next time, but a party that was taken away is not added any more.
 *
 * Emits nothing if the contracts cannot be read at this offset: the feed of before continues, and the next attempt comes later.
 */
export const takeOver = (readable: Readable, progress: SelectedProgress): Observable<ContractsBatch<AnyContract>> =>
  defer(() => {
    const before = listOf(progress.parties);
    const wanted = listOf(readable.selection.latest());
    const added = without(wanted, before);
    if (added.length === 0 && wanted.length === before.length) return EMPTY;
    const taken$ =
      before.length === 0 ? takeFirst(readable, progress, wanted) : takeOthers(readable, progress, wanted, added);
    return taken$.pipe(
      catchError((error: unknown) => {
        // the contracts can be read at a later offset, or are found again elsewhere
        if (error instanceof UnpairedError || error instanceof MovedError) {
          progress.continuesUntil = monotonicNow() + maxWaitMs;
          return EMPTY;
        }
        // what is no longer wanted may no longer be readable
        if (without(added, listOf(readable.selection.latest())).length > 0) return EMPTY;
        throw error;
      }),
    );
  });

/** The longest wait for another offset at which the contracts can be read, in milliseconds. */
const maxWaitMs = 10_000;

/** Only lists of parties change. */
const listOf = (parties: Parties): readonly Party[] => (parties === 'any' ? [] : parties);

/** Returns the parties of a list that are not in another one. */
function without(parties: readonly Party[], others: readonly Party[]): readonly Party[] {
  const known = new Set(others);
  return parties.filter((party) => !known.has(party));
}

/** Reads all contracts of the first parties at the ledger end: without parties, nothing was missed before. */
function takeFirst(
  readable: Readable,
  progress: SelectedProgress,
  wanted: readonly Party[],
): Observable<ContractsBatch<AnyContract>> {
  const followed = readable.of(wanted);
  const { source, query, eventFormat, stubAt } = followed;
  const { position, reached } = progress;
  const proof$ = defer(() => proofOf(readable, progress));
  const read$ = readContracts(source, query, eventFormat, { notBefore: reached, proof$ });
  return withPosition(source, stubAt(position), progress, read$).pipe(
    concatMap((read) => {
      if (without(wanted, listOf(readable.selection.latest())).length > 0) return EMPTY;
      progress.reached = read.offset;
      return of(changeTo(followed, progress, wanted, read));
    }),
  );
}

/** Reads what the added parties see, and continues with the parties that are still wanted then. */
function takeOthers(
  readable: Readable,
  progress: SelectedProgress,
  wanted: readonly Party[],
  added: readonly Party[],
): Observable<ContractsBatch<AnyContract>> {
  const { reached: activeAtOffset } = progress;
  const proof$ = defer(() => proofOf(readable, progress));
  const read = (parties: readonly Party[]): Observable<LoadedContracts> => {
    const { source, query, eventFormat } = readable.of(parties);
    return readContracts(source, query, eventFormat, { activeAtOffset, proof$ });
  };
  const continueWith = (
    parties: readonly Party[],
    loaded: LoadedContracts | undefined,
  ): Observable<ContractsBatch<AnyContract>> =>
    positionFor(readable, progress, parties).pipe(
      concatMap((position) => proof$.pipe(map(() => position))),
      concatMap((position) => {
        const stillWanted = stillIn(readable.selection, parties);
        if (stillWanted.length < parties.length) return continueWith(stillWanted, loaded);
        if (without(parties, listOf(progress.parties)).length === 0 && parties.length === progress.parties.length)
          return EMPTY;
        return of(changeTo(readable.of(progress.parties), progress, parties, { position, fold: loaded?.fold }));
      }),
    );
  const loaded$: Observable<LoadedContracts | undefined> = added.length === 0 ? of(undefined) : read(added);
  return loaded$.pipe(concatMap((loaded) => continueWith(stillIn(readable.selection, wanted), loaded)));
}

const stillIn = (selection: Selection, parties: readonly Party[]): readonly Party[] => {
  const latest = new Set(listOf(selection.latest()));
  return parties.filter((party) => latest.has(party));
};

/** Emits once the ledger is known to be the one that was read. */
const proofOf = (readable: Readable, { parties, position }: SelectedProgress): Observable<unknown> =>
  findBy(readable.of, { before: parties, now: readable.selection.latest() }, position).pipe(map(isStill(here)));

/** In how many updates before an offset the last one of each synchronizer is looked for: that of before shows how far it was read. */
const maxUpdates = 10;

/** Emits the position in the updates of some parties at the offset that was reached. */
function positionFor(
  readable: Readable,
  { position, reached: offset, parties: before }: SelectedProgress,
  parties: readonly Party[],
): Observable<LedgerPosition> {
  const { participantId, lastUpdate } = position;
  if (isNobody(parties)) return of({ ...bareOffset(offset), participantId });
  const isNarrowed = without(listOf(before), parties).length > 0;
  const begin = Math.max(0, (lastUpdate?.offset ?? offset) - 1);
  const recordTimes = isNarrowed ? timesOnly(position.recordTimes) : position.recordTimes;
  const feed: AnyFeed = readable.of(parties).stubAt(bareOffset(offset));
  return positionAt(feed, { offset, begin, participantId, recordTimes, maxUpdates }).pipe(
    catchError((error: unknown) => {
      throw isEndBeforeCursor(error) ? new MovedError() : error;
    }),
  );
}

/** The parties that are left may not see the updates of the others. */
const timesOnly = (recordTimes: LedgerPosition['recordTimes']): LedgerPosition['recordTimes'] =>
  Object.fromEntries(Object.entries(recordTimes).map(([id, { recordTime }]) => [id, { recordTime }]));

/** What was read for the new parties, and the position in the updates of all of them. */
interface Taken {
  readonly position: LedgerPosition;
  readonly fold: LoadedContracts['fold'] | undefined;
}

/** Selects other parties, and returns the change. The position is new even if nothing else is. */
function changeTo(
  { source, packages }: Pick<Followed, 'source' | 'packages'>,
  progress: SelectedProgress,
  parties: readonly Party[],
  { position, fold: read }: Taken,
): ContractsBatch<AnyContract> {
  const { fold, reached: offset, origin } = progress;
  packages.loaded(read?.contracts ?? []);
  const difference = fold.select(new Set(parties), read);
  const { contracts } = fold;
  progress.parties = parties;
  progress.position = position;
  progress.origin = { ...origin, before: position };
  progress.isComplete = true;
  if (isNobody(parties)) progress.isCaughtUp = true;
  const change: ContractsReconciled = { _tag: 'ContractsChanged', reason: 'selectionChanged', offset, ...difference };
  const hasChanged = isDifference(difference);
  if (hasChanged)
    source.report(() => ({
      _tag: 'ContractsReconciled',
      reason: 'selectionChanged',
      offset,
      contracts: contracts.size,
    }));
  return {
    items: hasChanged ? [change] : [],
    ...{ position, offset, isCaughtUp: progress.isCaughtUp, contracts, parties, origin: progress.origin },
  };
}
