import { defer, map, type OperatorFunction } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { advance, bareOffset, type LedgerPosition, type Read } from './LedgerPosition.js';

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

/** Notes of which page updates are. Returns the updates. */
export function withOrigin<A extends object>(updates: readonly A[], origin: Origin): readonly A[] {
  for (const update of updates) Labelled.label(update, origin);
  return updates;
}

/** A constructor that returns what it is given, so that a subclass adds its private field to an object that exists. */
const Existing = function (object: object) {
  return object;
} as unknown as new (object: object) => object;

/**
 * An update with a private field for its origin. An update is plain data, and stays so: copies, comparisons and JSON do not see
 * the field. A WeakMap of all updates would cost the garbage collector as much as it takes to decode them.
 */
class Labelled extends Existing {
  #origin: Origin;

  private constructor(update: object, origin: Origin) {
    super(update);
    this.#origin = origin;
  }

  static label(update: object, origin: Origin): void {
    if (#origin in update) update.#origin = origin;
    else new Labelled(update, origin);
  }

  static originOf(update: object): Origin | undefined {
    return #origin in update ? update.#origin : undefined;
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
      let origin: Origin | undefined;
      let position = bareOffset(0);
      return source.pipe(
        map((update) => {
          const own = Labelled.originOf(update);
          if (own !== undefined && own !== origin) position = own.before;
          origin = own;
          position = advance(position, [update], own?.isAddressed);
          return [update, position] as const;
        }),
      );
    });
