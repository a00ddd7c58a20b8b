import { concat, defer, ignoreElements, type Observable, repeat, take, concatMap, map, of } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { FeedBatch } from '../../feed/LedgerFeed.js';
import type { KnownHistory } from '../../history/ReaderHistory.js';
import type { AnyContract } from '../Contract.js';
import type { ContractsBatch } from '../ContractChange.js';
import type { ContractQuery, ContractPolicies, ContractsSource } from '../ContractQuery.js';
import { followChanges, type Followed, progressAt, type Read } from '../followChanges.js';
import { isNobody, type Parties, type Selection } from './Selection.js';
import { type SelectedProgress, takeOver } from './takeOver.js';
import { bareOffset, type LedgerPosition } from '../../codecs/LedgerPosition.js';
import { ContractsFold } from '../ContractsFold.js';
import { type LoadedContracts, maker, type Moment } from '../readContracts.js';
import { findOffset } from '../snapshot/transports.js';
import { readParticipant } from '../withPosition.js';

/** How to read the contracts of a selection. */
export interface Following {
  readonly query: ContractQuery;
  readonly selection: Selection;
  /** Returns how to read the contracts of some parties. */
  readonly of: (parties: Parties) => Followed;
  /** Returns the feed of what was selected, after an offset. Each batch begins when `ready$` emits. */
  readonly feed: (
    followed: Followed,
    known: KnownHistory,
    beginExclusive: Offset,
    ready$: Observable<unknown>,
  ) => Observable<FeedBatch>;
}

/** The contracts to begin with. */
interface Start extends Read {
  /** The parties that see them. */
  readonly parties: Parties;
  /** What is known of the ledger. */
  readonly known: KnownHistory;
}

/**
 * Follows the contracts of the parties that are selected, and takes over others when they are: the feed is left at the offset
 * that it has reached, what has come and gone there is one change, and a feed of the new selection continues after the offset.
 */
export const followSelection = (
  following: Following,
  { parties, known, ...read }: Start,
): Observable<ContractsBatch<AnyContract>> =>
  defer(() => {
    const { selection } = following;
    const progress: SelectedProgress = {
      ...progressAt(read, following.query),
      parties,
      isDoubtful: false,
    };
    let history = known;
    const feed = (followed: Followed) => (ready$: Observable<unknown>) =>
      following.feed(followed, history, progress.reached, ready$);
    const turn$ = defer(() => {
      const differs$ = selection.differsFrom(progress.parties);
      // without parties, nothing changes
      if (isNobody(progress.parties)) return differs$.pipe(take(1), ignoreElements());
      const followed = following.of(progress.parties);
      return followChanges(followed, progress, feed(followed), differs$);
    });
    const taken$ = defer(() => takeOver(following, progress));
    return concat(
      turn$,
      taken$,
      defer(() => {
        history = { position: progress.position };
        return [];
      }),
    ).pipe(repeat());
  });

/** Finds the offset of an empty selection. Nothing shows whether the ledger is the one of before. */
export const readNothing = (
  source: ContractsSource,
  query: ContractQuery & ContractPolicies,
  { activeAtOffset, notBefore = 0 }: Moment,
  before: LedgerPosition | undefined,
): Observable<LoadedContracts & { readonly position: LedgerPosition }> =>
  (activeAtOffset === undefined ? findOffset(source, notBefore) : of(activeAtOffset)).pipe(
    concatMap((offset = notBefore) =>
      (before === undefined ? readParticipant(source) : of(before.participantId)).pipe(
        map((participantId) => ({
          ...{ offset, fold: new ContractsFold(maker(source, query)) },
          position: { ...bareOffset(offset), participantId },
        })),
      ),
    ),
  );
