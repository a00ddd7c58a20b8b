import type * as t from 'io-ts';
import { catchError, concatMap, defer, EMPTY, from, map, type Observable, of } from 'rxjs';
import { optional, text, whole } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { formatProblem, problemsOf } from '../codecs/Problem.js';
import { Offset, Timestamp } from '../codecs/scalars.js';
import { type Update, UpdateElement } from '../codecs/Update.js';
import { CursorError } from '../errors/process.js';
import { mapError } from '../http/retry.js';
import { toObservable, HandlerFailure } from './callHandler.js';
import type { CheckpointStore, TransactionalStore } from './CheckpointStore.js';
import type { Handler, Work } from './ProcessOptions.js';
import type { Handling } from './Processor.js';

/** What has become of an update that was parked. */
export interface Unparked {
  /** The update, and why it was put aside. */
  readonly parked: Parked;
  /** Whether it has been handled, and taken away. */
  readonly isHandled: boolean;
  /** What the handler failed with this time. */
  readonly error?: unknown;
}

/** An update that could not be handled and was put aside. */
export interface Parked {
  /** Where it stands on the ledger. */
  readonly offset: Offset;
  /** Its id, where it has one. */
  readonly updateId?: string | undefined;
  /** The update; absent for one that does not decode. */
  readonly update?: Update | undefined;
  /** Why it could not be handled: the message of the handler's last error, or what does not decode. */
  readonly reason: string;
  /** How many times it was tried. */
  readonly attempts: number;
  /** When it was put aside, by this machine's clock. */
  readonly parkedAt: Timestamp;
}

/** Codec of `Parked`; it encodes to plain JSON with the update in the wire's own form. */
export const Parked: t.Type<Parked, unknown> = message<Parked>('Parked', {
  offset: Offset,
  updateId: optional(text),
  update: optional(UpdateElement),
  reason: text,
  attempts: whole('Attempts', 0, Infinity, 'a whole number'),
  parkedAt: Timestamp,
});

/**
 * Has a handler work on what a processor has parked, by ascending offset, and emits what becomes of each. What is handled
 * is taken away, in the handler's transaction where the store has them; what fails stays, and the next one has its turn.
 * So does what does not decode: read it from the ledger by its offset.
 *
 * The processor of that name may be working meanwhile: it is far beyond these updates, and they are handled out of turn.
 *
 * @throws TypeError for a store that cannot park
 * @example
 * ```ts
 * import { handleParked, memoryStore } from 'canton-rx';
 *
 * handleParked(memoryStore(), 'balances', (update) => {
 *   console.log(update.offset);
 * }).subscribe(({ parked, isHandled }) => {
 *   console.log(parked.offset, parked.reason, isHandled);
 * });
 * ```
 */
export function handleParked(store: CheckpointStore, name: string, handler: Handler): Observable<Unparked>;
/** Has a handler work on what was parked, in transactions. */
export function handleParked<Tx>(
  store: TransactionalStore<Tx>,
  name: string,
  handler: Handler<Tx>,
): Observable<Unparked>;
export function handleParked(
  store: CheckpointStore<unknown> & Partial<Pick<TransactionalStore<unknown>, 'transactions'>>,
  name: string,
  handle: (work: never, tx: never) => unknown,
): Observable<Unparked> {
  const { transactions } = store;
  if (store.parked === undefined || store.unpark === undefined) throw new TypeError('a store that can park is needed');
  const handling: Handling = { handle };
  const taken = ({ offset }: Parked, tx: unknown): Observable<boolean> =>
    from(store.unpark?.(name, offset, tx) ?? [false]);
  const handled = (parked: Parked): Observable<Unparked> => {
    const update = workIn(parked);
    if (update === undefined) return of({ parked, isHandled: false });
    const done: Unparked = { parked, isHandled: true };
    const work = (tx: unknown): Observable<unknown> => defer(() => toObservable(handling.handle(update, tx)));
    if (transactions === undefined)
      return work(undefined).pipe(
        concatMap(() => taken(parked, undefined)),
        map(() => done),
      );
    // taken away first: whoever else would handle it waits, and finds it gone
    return transactions.transact((tx) =>
      taken(parked, tx).pipe(concatMap((wasThere) => (wasThere ? work(tx).pipe(map(() => done)) : EMPTY))),
    );
  };
  return defer(() => from(store.parked?.(name) ?? EMPTY)).pipe(
    concatMap((record) => {
      const parked = decoded(name, record);
      return handled(parked).pipe(
        mapError((error) => (error instanceof HandlerFailure ? error.cause : error)),
        catchError((error: unknown) => of<Unparked>({ parked, isHandled: false, error })),
      );
    }),
  );
}

/** The update, if it is one that handlers get. */
const workIn = ({ update }: Parked): Work | undefined => (update?._tag === 'OffsetCheckpoint' ? undefined : update);

function decoded(name: string, record: unknown): Parked {
  const result = Parked.decode(record);
  if (result._tag === 'Right') return result.right;
  throw new CursorError('unreadable', name, problemsOf(result.left).map(formatProblem).join(', '));
}
