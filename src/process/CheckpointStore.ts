import type { Observable, ObservableInput } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Cursor } from './Cursor.js';

/**
 * Where processors save their cursors, each under its name. `load` and `save` are enough; a store that can also keep
 * updates that could not be handled has `park`, `parked` and `unpark` as well. `tx` is the transaction of a
 * {@link TransactionalStore}, and `undefined` for any other store.
 *
 * A call that fails is retried. A `save` must be durable when its Observable completes, its Promise resolves or its call
 * returns, and a cursor must be saved as a whole or not at all.
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
   * Emits the record that was saved last under a name; `undefined`, `null` or nothing if there is none. The library
   * decodes it, and fails with a `CursorError` if it is no cursor.
   */
  load(name: string): ObservableInput<unknown>;
  /** Saves a cursor, which is plain JSON, in place of the last one. */
  save(name: string, cursor: Cursor, tx: Tx): ObservableInput<unknown>;
  /** Saves an update that could not be handled: `parked` is plain JSON. Replaces the one at the same offset. */
  park?(name: string, offset: Offset, parked: unknown, tx: Tx): ObservableInput<unknown>;
  /** Emits the updates that are parked under a name, one value each, by ascending offset. */
  parked?(name: string): ObservableInput<unknown>;
  /** Removes a parked update, and emits whether it was there. */
  unpark?(name: string, offset: Offset, tx: Tx): ObservableInput<boolean>;
}

/**
 * A store in whose transactions handlers work: their effects and the cursor are committed together or not at all.
 *
 * @category Stores
 */
export interface TransactionalStore<Tx> extends CheckpointStore<Tx> {
  /**
   * Waits until no other processor holds the name, then holds it and emits, once. Errors when the name is lost, and
   * releases it when unsubscribed. A `save` that finds out that the name was lost fails with a `StoreError` whose operation
   * is `'hold'`.
   */
  hold(name: string): Observable<Transactions<Tx>>;
  /** Transactions that need no name to be held: for updates that were parked. */
  readonly transactions: Transactions<Tx>;
}

/**
 * Runs work in transactions.
 *
 * @category Stores
 */
export interface Transactions<Tx> {
  /**
   * Begins a transaction, runs the work in it, and commits when the work completes. Emits what the work emits, after the
   * commit. An error of the work rolls the transaction back. Where the database requires it, for example after a
   * serialization failure, the transaction is repeated as a whole.
   */
  transact<A>(work: (tx: Tx) => Observable<A>): Observable<A>;
}
