import type { Observable, ObservableInput } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Cursor } from './Cursor.js';

/**
 * Where processors keep their places, each under its name. `load` and `save` are enough; a store that can also put
 * updates aside has the three others as well. `tx` is the transaction of a {@link TransactionalStore}, and nothing otherwise.
 *
 * A store may fail: it is asked again. A `save` must have happened when its Observable, Promise or call is over, and a
 * cursor must be saved whole or not at all.
 *
 * @example
 * ```ts
 * import { readFile, rename, writeFile } from 'node:fs/promises';
 * import type { CheckpointStore } from 'canton-rx';
 *
 * // as short as can be; `fileStore` of canton-rx/file is safe against more
 * const store: CheckpointStore = {
 *   load: (name) => readFile(`${name}.json`, 'utf8').then((text): unknown => JSON.parse(text), () => undefined),
 *   save: (name, cursor) =>
 *     writeFile(`${name}.new`, JSON.stringify(cursor)).then(() => rename(`${name}.new`, `${name}.json`)),
 * };
 * console.log(typeof store.load);
 * ```
 */
export interface CheckpointStore<Tx = void> {
  /** Emits what was saved last under a name; `undefined`, `null` or nothing where nothing was. It is decoded by the library. */
  load(name: string): ObservableInput<unknown>;
  /** Saves a cursor: plain JSON. */
  save(name: string, cursor: Cursor, tx: Tx): ObservableInput<unknown>;
  /** Puts an update aside: `parked` is plain JSON. Once more for the same offset replaces it. */
  park?(name: string, offset: Offset, parked: unknown, tx: Tx): ObservableInput<unknown>;
  /** Emits what was put aside under a name, one value each, by ascending offset. */
  parked?(name: string): ObservableInput<unknown>;
  /** Takes one of them away, and emits whether it was there. */
  unpark?(name: string, offset: Offset, tx: Tx): ObservableInput<boolean>;
}

/** A store in whose transactions handlers work: what they do and how far they have come is committed together or not at all. */
export interface TransactionalStore<Tx> extends CheckpointStore<Tx> {
  /**
   * Waits until no other processor holds the name, then holds it and emits, once; errors when it has lost the name;
   * lets go of it when unsubscribed.
   */
  hold(name: string): Observable<Transactions<Tx>>;
  /** Transactions that need no hold: to handle what was parked. */
  readonly transactions: Transactions<Tx>;
}

/** Runs work in transactions. */
export interface Transactions<Tx> {
  /**
   * Begins a transaction, works in it, and commits it when the work completes; emits what the work emits, after the commit.
   * An error of the work rolls it back. Where the database asks for it, the whole is done once more.
   */
  transact<A>(work: (tx: Tx) => Observable<A>): Observable<A>;
}
