import type { JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import {
  concat,
  defer,
  EMPTY,
  finalize,
  from,
  ignoreElements,
  interval,
  isObservable,
  type Observable,
  of,
  retry,
  tap,
  timer,
  using,
} from 'rxjs';
import { problemsOf } from '../codecs/Problem.js';
import { offsetOfElement, UpdateElement } from '../codecs/Update.js';
import { DecodeError, OrderError } from '../errors/feed.js';
import { HandlerError } from '../errors/process.js';
import type { Handler, Work } from '../process/ProcessOptions.js';
import { gapOf, notePlace, type PlaceBucket, type ReaderPlace, readPlace } from './consumer.js';
import type { HandlerRetry } from './NatsUpdatesOptions.js';
import { withRetry } from './RelayError.js';

/** A subscription that reads. */
export interface Reading {
  readonly connection: NatsConnection;
  readonly timeoutMs: number;
  readonly stream: string;
  readonly handler: Handler;
  readonly policy: HandlerRetry;
  readonly beatMs: number;
  readonly places: PlaceBucket;
  readonly durable: string;
  /** What is known to have been read last. */
  place: ReaderPlace;
}

// long enough that it does not come to a subscription that is about to end
const comesAgainMs = 100;

/** Handles one message, acknowledges it, and emits its update then. What is not handled comes again. */
export const readOne = (reading: Reading, message: JsMsg): Observable<Work> =>
  defer(() => {
    const { connection, timeoutMs, places, durable } = reading;
    const ask = <A>(call: () => Promise<A>): Observable<A> => withRetry(connection, call);
    const acknowledged = ask(() => acknowledge(connection, message, timeoutMs)).pipe(ignoreElements());
    let isOver = false;
    const work = defer(() => {
      const update = checked(reading, message);
      // handled before, and acknowledged too late or not at all
      if (update === undefined) return acknowledged;
      const beat = (): void => {
        if (!connection.isClosed()) message.working();
      };
      const promised = (isPending: boolean): void => {
        isOver = isPending;
      };
      const { revision } = reading.place;
      const end = { sequence: message.seq, offset: update.offset };
      const noted = ask(() => notePlace(places, durable, end, revision)).pipe(
        tap((place) => {
          isOver = true;
          reading.place = place;
        }),
        ignoreElements(),
      );
      return concat(handled(update, { ...reading, beat, promised }), noted, acknowledged, of(update));
    });
    // others may have read since
    const isNext = message.seq === reading.place.sequence + 1;
    const looked = ask(() => readPlace(places, durable)).pipe(
      tap((place) => {
        reading.place = place ?? reading.place;
      }),
      ignoreElements(),
    );
    return concat(isNext ? EMPTY : looked, work).pipe(
      finalize(() => {
        if (!isOver && !connection.isClosed()) message.nak(comesAgainMs);
      }),
    );
  });

/** How a handler is called. */
interface Handling {
  readonly handler: Handler;
  readonly policy: HandlerRetry;
  /** Says that the handler is still at it. */
  readonly beat: () => void;
  readonly beatMs: number;
  /** Called with whether a Promise is awaited, which nothing stops. */
  readonly promised: (isPending: boolean) => void;
}

/** Handles an update, and again for a while where that fails; completes when it is handled. */
const handled = (update: Work, { handler, policy, beat, beatMs, promised }: Handling): Observable<never> =>
  defer(() => {
    const start = performance.now();
    const again = (cause: unknown, failures: number): Observable<unknown> => {
      const wait = Math.random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (failures - 1));
      if (performance.now() + wait - start < policy.giveUpAfterMs) return timer(wait);
      throw new HandlerError(update.offset, 'updateId' in update ? update.updateId : undefined, failures, cause);
    };
    const attempt = defer(() => {
      const result = handler(update, undefined);
      if (isObservable(result)) return result;
      promised(true);
      return from(Promise.resolve(result)).pipe(
        tap({
          error: () => {
            promised(false);
          },
        }),
      );
    });
    return using(
      () =>
        interval(beatMs)
          .pipe(tap(beat))
          .subscribe({ error: () => undefined }),
      () => attempt.pipe(ignoreElements(), retry({ delay: again })),
    );
  });

const acknowledgement = new TextEncoder().encode('+ACK');

/** Until the server confirms it. The client itself does it once alone, and a failure leaves open what became of it. */
async function acknowledge(connection: NatsConnection, message: JsMsg, timeout: number): Promise<void> {
  const reply = 'reply' in message ? message.reply : undefined;
  if (typeof reply === 'string') await connection.request(reply, acknowledgement, { timeout });
  else await message.ackAck({ timeout });
}

/** The update of the message that is next; of one that was read nothing. */
function checked({ stream, place }: Reading, message: JsMsg): Work | undefined {
  if (message.seq <= place.sequence) return undefined;
  if (message.seq > place.sequence + 1) throw gapOf(stream, place.sequence + 1, message.seq);
  const update = updateOf(stream, message);
  if (update.offset <= place.offset) throw new OrderError(update.offset, place.offset);
  return update;
}

/** The update of a message; a relay publishes no checkpoint. */
function updateOf(stream: string, message: JsMsg): Work {
  const path = `${stream}/${message.seq}`;
  const element = jsonOf(message);
  const result = UpdateElement.decode(element);
  if (result._tag === 'Left') throw new DecodeError(path, problemsOf(result.left), offsetOfElement(element));
  if (result.right._tag !== 'OffsetCheckpoint') return result.right;
  throw new DecodeError(path, [{ path: 'update', expected: 'an update of a relay' }], result.right.offset);
}

function jsonOf(message: JsMsg): unknown {
  try {
    return message.json<unknown>();
  } catch {
    // which is no update either
    return undefined;
  }
}
