import type * as t from 'io-ts';
import { catchError, concatMap, defer, EMPTY, from, map, type Observable, of } from 'rxjs';
import { optional, text, integer } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { Offset, Timestamp } from '../codecs/scalars.js';
import { type Update, UpdateElement } from '../codecs/Update.js';
import { mapError } from '../http/retry.js';
import { HandlerFailure, toObservable } from './callHandler.js';
import { type CheckpointStore, decodeRecord, type TransactionalStore } from './CheckpointStore.js';
import type { Handler, Work } from './ProcessOptions.js';

/**
 * The result for a parked update.
 *
 * @category Processing
 */
export interface Unparked {
  /** The update and the reason why it was parked. */
  readonly parked: Parked;
  /** Whether it was handled and removed from the store. */
  readonly isHandled: boolean;
  /** The error of the handler, or of the store; absent if there was none. */
  readonly error?: unknown;
}

/**
 * An update that could not be handled, as a store keeps it.
 *
 * @category Processing
 */
export interface Parked {
  /** The offset of the update. */
  readonly offset: Offset;
  /** The ID of the update, if it has one. */
  readonly updateId?: string | undefined;
  /** The update; absent if it could not be decoded. */
  readonly update?: Update | undefined;
  /** Why it could not be handled: the message of the handler's last error, or what could not be decoded. */
  readonly reason: string;
  /** The number of attempts. */
  readonly attempts: number;
  /** When it was parked, by the clock of the machine. */
  readonly parkedAt: Timestamp;
}

/**
 * Codec of `Parked`. It encodes to plain JSON, with the update as the participant sent it.
 *
 * @category Processing
 */
export const Parked: t.Type<Parked, unknown> = message<Parked>('Parked', {
  offset: Offset,
  updateId: optional(text),
  update: optional(UpdateElement),
  reason: text,
  attempts: integer('Attempts', 0, Infinity, 'a whole number'),
  parkedAt: Timestamp,
});

/**
 * Calls a handler with the updates that a processor has parked, in ascending order of offset, and emits the result for
 * each. An update that was handled is removed; if the store has transactions, in the transaction of the handler. An update
 * that fails remains parked, and the next one follows. An update that cannot be decoded remains parked, too: read it from
 * the ledger by its offset.
 *
 * The processor of that name may run at the same time. It has long passed these updates, so they are handled out of
 * order.
 *
 * @throws TypeError if the store cannot park updates
 * @example
 * ```ts
 * import { handleParked, memoryStore } from 'canton-rx/process';
 *
 * handleParked(memoryStore(), 'balances', (update) => {
 *   console.log(update.offset);
 * }).subscribe(({ parked, isHandled }) => {
 *   console.log(parked.offset, parked.reason, isHandled);
 * });
 * ```
 *
 * @category Processing
 */
export function handleParked<Tx = void>(
  store: CheckpointStore | TransactionalStore<Tx>,
  name: string,
  handler: Handler<NoInfer<Tx>>,
): Observable<Unparked> {
  const parking: ParkingStore = store;
  const { transactions } = parking;
  if (parking.parked === undefined || parking.unpark === undefined)
    throw new TypeError('handleParked requires a store with parked and unpark');
  const unpark = (parked: Parked, tx: unknown): Observable<boolean> =>
    defer(() => from(parking.unpark?.(name, parked.offset, tx) ?? [false]));
  const handleOne = (parked: Parked, work: Work): Observable<unknown> => {
    const call = (tx: unknown): Observable<unknown> => defer(() => toObservable(handler(work, tx as Tx)));
    return transactions === undefined
      ? call(undefined).pipe(concatMap(() => unpark(parked, undefined)))
      : // removed first, so that a concurrent call waits for this transaction and then does not find the update
        transactions.transact((tx) =>
          unpark(parked, tx).pipe(concatMap((wasParked) => (wasParked ? call(tx) : EMPTY))),
        );
  };
  return defer(() => from(parking.parked?.(name) ?? EMPTY)).pipe(
    concatMap((record) => {
      const parked = decodeRecord(Parked, name, record);
      const work = toWork(parked);
      if (work === undefined) return of<Unparked>({ parked, isHandled: false });
      return handleOne(parked, work).pipe(
        map((): Unparked => ({ parked, isHandled: true })),
        mapError((error) => (error instanceof HandlerFailure ? error.cause : error)),
        catchError((error: unknown) => of<Unparked>({ parked, isHandled: false, error })),
      );
    }),
  );
}

/** A store as `handleParked` uses it. */
type ParkingStore = CheckpointStore<unknown> & Partial<Pick<TransactionalStore<unknown>, 'transactions'>>;

/** Returns the update, unless it is absent or of a kind that handlers do not receive. */
const toWork = ({ update }: Parked): Work | undefined => (update?._tag === 'OffsetCheckpoint' ? undefined : update);
