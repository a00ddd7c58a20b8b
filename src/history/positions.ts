import { defer, map, type OperatorFunction } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { bareOffset, type LedgerPosition } from '../codecs/LedgerPosition.js';
import { advance, idOf, pointsOf, type Read } from './advance.js';

/**
 * Consecutive items of a source, and where a reader is after them.
 *
 * @category Processing
 */
export interface Batch<A, P = LedgerPosition> {
  /** The items, in order. */
  readonly items: readonly A[];
  /** The position up to which the source has been read with them. */
  readonly position: P;
  /** Whether the source was not known to have more. */
  readonly isCaughtUp: boolean;
  /** Whether the source ends with them. */
  readonly isLast?: boolean | undefined;
  /** The error with which the source ends after them. */
  readonly failure?: Failure | undefined;
}

/**
 * An error that ends a source of batches.
 *
 * @inline
 */
interface Failure {
  /** What failed. */
  readonly error: unknown;
}

/** Where the updates of a page are in the history of a ledger. */
export interface Origin {
  /** What was read before the page. */
  readonly before: LedgerPosition;
  /** Whether the offsets of the updates belong to the participant of that position. */
  readonly isAddressed: boolean;
}

/** A page, for the position of each of its updates. */
interface Page extends Origin {
  /** Each update after which one of another synchronizer comes, in order: a subscriber may not see it. */
  readonly turns: readonly Read[];
}

/** Notes of which page updates are. Returns the updates. */
export function withOrigin<A extends Read>(updates: readonly A[], origin: Origin): readonly A[] {
  const turns = updates.slice(0, -1).flatMap((update, index) => {
    const { synchronizerId } = update;
    return synchronizerId !== undefined && synchronizerId === updates[index + 1]?.synchronizerId ? [] : turnOf(update);
  });
  const page = { ...origin, turns };
  for (const update of updates) Labelled.label(update, page);
  return updates;
}

/** Returns what a position needs of an update. The events would keep the memory of the whole page. */
const turnOf = (update: Read): readonly Read[] =>
  update._tag === 'OffsetCheckpoint'
    ? [update]
    : pointsOf(update).map((point) => ({ _tag: 'Read', offset: update.offset, updateId: idOf(update), ...point }));

/** A constructor that returns what it is given, so that a subclass adds its private field to an object that exists. */
const Existing = function (object: object) {
  return object;
} as unknown as new (object: object) => object;

/**
 * An update with a private field for its page. An update is plain data, and stays so: copies, comparisons and JSON do not see
 * the field. A WeakMap of all updates would cost the garbage collector as much as it takes to decode them.
 */
class Labelled extends Existing {
  #page: Page;

  private constructor(update: object, page: Page) {
    super(update);
    this.#page = page;
  }

  static label(update: object, page: Page): void {
    if (#page in update) update.#page = page;
    else new Labelled(update, page);
  }

  static pageOf(update: object): Page | undefined {
    return #page in update ? update.#page : undefined;
  }
}

/**
 * Pairs each update with the position after it: to store, and to pass to `updates({ after: position })`, which continues from
 * there, also after the participant was restored from a backup, and with `onOtherNode: 'relocate'` on another participant.
 *
 * The position knows what the feed has read, also if operators before it have left out updates. The updates must be those of
 * `ledger.updates`, as they are: of copies, the position does not know the participant.
 *
 * @example
 * ```ts
 * import { acsDelta, createLedger, positions } from 'canton-rx';
 * import { take } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * ledger
 *   .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) })
 *   .pipe(positions(), take(3))
 *   .subscribe(([update, position]) => {
 *     console.log(update.offset, JSON.stringify(position));
 *   });
 * ```
 * @category Operators
 */
export const positions =
  <A extends Update | Read>(): OperatorFunction<A, readonly [update: A, position: LedgerPosition]> =>
  (source) =>
    defer(() => {
      let page: Page | undefined;
      let passed = 0;
      let position = bareOffset(0);
      return source.pipe(
        map((update) => {
          const own = Labelled.pageOf(update);
          if (own !== page) {
            position = own?.before ?? position;
            passed = 0;
          }
          page = own;
          const first = passed;
          while ((own?.turns[passed]?.offset ?? Infinity) < update.offset) passed += 1;
          const before = own?.turns.slice(first, passed) ?? [];
          position = advance(position, [...before, update], own?.isAddressed);
          return [update, position] as const;
        }),
      );
    });
