import * as t from 'io-ts';
import type { Observable, ObservableInput } from 'rxjs';
import { text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { formatProblem, problemsOf } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { CursorError } from '../errors/process.js';
import { type LedgerPosition, positionFields } from '../codecs/LedgerPosition.js';

/**
 * A position in a source.
 *
 * @category Processing
 */
export interface FeedPosition {
  /** The ledger offset up to which everything has been read. */
  readonly offset: Offset;
}

/**
 * The progress of a processor, as a {@link CheckpointStore} saves it: plain JSON. If the source is not a ledger, it has
 * additional fields for the position in the source.
 *
 * @category Processing
 */
export interface Cursor extends FeedPosition, LedgerPosition {
  /** The version of this format. */
  readonly version: 1;
  /** The offset up to which every update has been handled or does not concern the processor. */
  readonly offset: Offset;
  /** A hash of what the request selects. It does not depend on the order of parties and filters. */
  readonly selection: string;
}

/**
 * Codec of `Cursor`. It rejects a record of a later version.
 *
 * @category Processing
 */
export const Cursor: t.Type<Cursor, unknown> = message<Cursor>('Cursor', {
  version: t.literal(1),
  ...positionFields,
  selection: text,
});

/** Decodes a record of a processor's store. Throws a {@link CursorError} if it cannot be decoded. */
export function decodeRecord<A>(codec: t.Decoder<unknown, A>, processor: string, record: unknown): A {
  const result = codec.decode(record);
  if (result._tag === 'Right') return result.right;
  throw new CursorError('unreadable', processor, problemsOf(result.left).map(formatProblem).join(', '));
}

/**
 * Where processors save their cursors, each under its name. `load` and `save` are required; a store that can also keep
 * updates that could not be handled implements `park`, `parked` and `unpark`, too. `tx` is the transaction of a
 * {@link TransactionalStore}, and `undefined` for any other store.
 *
 * A failed call is retried, unless the error is a `CursorError` or has a property `endsProcessor` that is `true`: the
 * processor ends with it at once. A `save` must be durable when its Observable completes, its Promise resolves or its call
 * returns. A cursor must be saved completely or not at all. A call that took too long is retried, too, while its Promise
 * may still be pending: apply the saves of a name in the order of the calls.
 *
 * In one process, a processor waits until the previous processor with the same name and the same store object has ended.
 * A store that implements `hold` decides this itself, for example for several processes.
 *
 * @example
 * ```ts
 * import { readFile, rename, writeFile } from 'node:fs/promises';
 * import type { CheckpointStore } from 'canton-rx/process';
 *
 * // a minimal store; `fileStore` of canton-rx/file also survives a loss of power
 * const store: CheckpointStore = {
 *   load: (name) => readFile(`${name}.json`, 'utf8').then((text): unknown => JSON.parse(text), () => undefined),
 *   save: (name, cursor) =>
 *     writeFile(`${name}.new`, JSON.stringify(cursor)).then(() => rename(`${name}.new`, `${name}.json`)),
 * };
 * console.log(typeof store.load);
 * ```
 *
 * @category Stores
 */
export interface CheckpointStore<Tx = void> {
  /**
   * Emits the record that was last saved under a name; `undefined`, `null` or nothing if there is none. The library
   * decodes the record and fails with a `CursorError` if it is not a cursor.
   */
  load(name: string): ObservableInput<unknown>;
  /** Saves a cursor, which is plain JSON, and replaces the previous one. */
  save(name: string, cursor: Cursor, tx: Tx): ObservableInput<unknown>;
  /**
   * Saves an update that could not be handled. Replaces the same update, and fails if another `updateId` is parked at the offset, as
   * may be after a restore: that update would be lost. `parked` is plain JSON.
   */
  park?(name: string, offset: Offset, parked: unknown, tx: Tx): ObservableInput<unknown>;
  /** Emits the updates that are parked under a name, one value each, in ascending order of offset. */
  parked?(name: string): ObservableInput<unknown>;
  /**
   * Waits until no other processor holds the name, then holds it and emits once. Errors if the name is lost;
   * unsubscribing releases it. If a `save` detects that the name was lost, it fails with a `StoreError` whose operation is
   * `'hold'`: the processor waits for the name again, and resumes from the last cursor.
   *
   * @param standBy - call it once another processor is known to hold the name: the processor then loads its cursor to check
   * it, and counts as a standby. If a store never calls it, a processor that waits has the role `'starting'`. With `'paused'`
   * no process may hold it until it is resumed
   * @defaultValue the name is held within this process, for this store object
   */
  hold?(name: string, standBy?: (reason?: 'paused') => void): Observable<unknown>;
  /** Removes a parked update and emits whether it existed. */
  unpark?(name: string, offset: Offset, tx: Tx): ObservableInput<boolean>;
}

/**
 * A store whose transactions the handlers work in: their effects and the cursor are committed together or not at all.
 *
 * @category Stores
 */
export interface TransactionalStore<Tx> extends CheckpointStore<Tx> {
  /**
   * Waits until no other processor holds the name, then holds it and emits once. Errors if the name is lost;
   * unsubscribing releases it. If a `save` detects that the name was lost, it fails with a `StoreError` whose operation
   * is `'hold'`.
   *
   * @param standBy - call it once another processor is known to hold the name; with `'paused'`, if none may hold it
   */
  hold(name: string, standBy?: (reason?: 'paused') => void): Observable<Transactions<Tx>>;
  /** Transactions without a held name, for parked updates. */
  readonly transactions: Transactions<Tx>;
}

/**
 * Runs work in transactions.
 *
 * @category Stores
 */
export interface Transactions<Tx> {
  /**
   * Begins a transaction, runs the work in it, and commits when the work completes. Emits the values of the work after
   * the commit. An error of the work rolls the transaction back. If the database requires it, for example after a
   * serialization failure, the complete transaction is repeated.
   */
  transact<A>(work: (tx: Tx) => Observable<A>): Observable<A>;
}
