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
import { gapError, type PlaceBucket, readPlace, type ReaderPlace, savePlace } from './consumer.js';
import type { HandlerRetry } from './NatsUpdatesOptions.js';
import { withRetry } from './RelayError.js';

/** Everything that a subscription needs to read messages. */
export interface ReaderContext {
  readonly connection: NatsConnection;
  readonly timeoutMs: number;
  readonly stream: string;
  readonly handler: Handler;
  readonly policy: HandlerRetry;
  readonly heartbeatMs: number;
  readonly places: PlaceBucket;
  readonly durable: string;
  /** The last message that is known to have been read. */
  place: ReaderPlace;
}

/** The delay of a message that is delivered again, in milliseconds: so long that a subscription about to end does not get it. */
const redeliveryDelayMs = 100;

/** Handles one message, acknowledges it, and then emits its update. A message that is not handled is delivered again. */
export const readOne = (context: ReaderContext, message: JsMsg): Observable<Work> =>
  defer(() => {
    const { connection, timeoutMs, places, durable } = context;
    const call = <A>(request: () => Promise<A>): Observable<A> => withRetry(connection, request);
    const acknowledge$ = call(() => acknowledge(connection, message, timeoutMs)).pipe(ignoreElements());
    // whether the message must not be delivered again when the subscription ends
    let mustKeep = false;
    const read$ = defer(() => {
      const update = nextUpdate(context, message);
      // handled before, but acknowledged too late or not at all
      if (update === undefined) return acknowledge$;
      const heartbeat = (): void => {
        if (!connection.isClosed()) message.working();
      };
      // a Promise cannot be cancelled: while it runs, the message must not be delivered again
      const onPromise = (isPending: boolean): void => {
        mustKeep = isPending;
      };
      const { revision } = context.place;
      const end = { sequence: message.seq, offset: update.offset };
      const save$ = call(() => savePlace(places, durable, end, revision)).pipe(
        tap((place) => {
          mustKeep = true;
          context.place = place;
        }),
        ignoreElements(),
      );
      return concat(callHandler(update, { ...context, heartbeat, onPromise }), save$, acknowledge$, of(update));
    });
    // other subscribers may have read messages in between
    const isNext = message.seq === context.place.sequence + 1;
    const refresh$ = call(() => readPlace(places, durable)).pipe(
      tap((place) => {
        context.place = place ?? context.place;
      }),
      ignoreElements(),
    );
    return concat(isNext ? EMPTY : refresh$, read$).pipe(
      finalize(() => {
        if (!mustKeep && !connection.isClosed()) message.nak(redeliveryDelayMs);
      }),
    );
  });

/** How a handler is called. */
interface HandlerCall {
  readonly handler: Handler;
  readonly policy: HandlerRetry;
  /** Notifies the server that the handler is still running. */
  readonly heartbeat: () => void;
  readonly heartbeatMs: number;
  /** Called when the handler returns a Promise, and when that is rejected. */
  readonly onPromise: (isPending: boolean) => void;
}

/** Calls the handler with an update, retries it when it fails, and completes when the update is handled. */
const callHandler = (
  update: Work,
  { handler, policy, heartbeat, heartbeatMs, onPromise }: HandlerCall,
): Observable<never> =>
  defer(() => {
    const startedAt = performance.now();
    const nextRetry = (cause: unknown, failures: number): Observable<unknown> => {
      const delayMs = Math.random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (failures - 1));
      if (performance.now() + delayMs - startedAt < policy.giveUpAfterMs) return timer(delayMs);
      throw new HandlerError(update.offset, 'updateId' in update ? update.updateId : undefined, failures, cause);
    };
    const attempt$ = defer(() => {
      const result = handler(update, undefined);
      if (isObservable(result)) return result;
      onPromise(true);
      return from(Promise.resolve(result)).pipe(
        tap({
          error: () => {
            onPromise(false);
          },
        }),
      );
    });
    return using(
      () =>
        interval(heartbeatMs)
          .pipe(tap(heartbeat))
          .subscribe({ error: () => undefined }),
      () => attempt$.pipe(ignoreElements(), retry({ delay: nextRetry })),
    );
  });

const acknowledgement = new TextEncoder().encode('+ACK');

/** Acknowledges a message, and waits for the confirmation. A message object acknowledges only once, even if that fails, hence the request. */
async function acknowledge(connection: NatsConnection, message: JsMsg, timeout: number): Promise<void> {
  const reply = 'reply' in message ? message.reply : undefined;
  if (typeof reply === 'string') await connection.request(reply, acknowledgement, { timeout });
  else await message.ackAck({ timeout });
}

/** The update of the next message; `undefined` for a message that was read before. */
function nextUpdate({ stream, place }: ReaderContext, message: JsMsg): Work | undefined {
  if (message.seq <= place.sequence) return undefined;
  if (message.seq > place.sequence + 1) throw gapError(stream, place.sequence + 1, message.seq);
  const update = decodeUpdate(stream, message);
  if (update.offset <= place.offset) throw new OrderError(update.offset, place.offset);
  return update;
}

/** Decodes the update of a message. A checkpoint is an error, since a relay publishes none. */
function decodeUpdate(stream: string, message: JsMsg): Work {
  const path = `${stream}/${message.seq}`;
  const element = parseJson(message);
  const result = UpdateElement.decode(element);
  if (result._tag === 'Left') throw new DecodeError(path, problemsOf(result.left), offsetOfElement(element));
  if (result.right._tag !== 'OffsetCheckpoint') return result.right;
  throw new DecodeError(path, [{ path: 'update', expected: 'an update of a relay' }], result.right.offset);
}

/** The JSON of a message; `undefined`, which is not an update, for any other text. */
function parseJson(message: JsMsg): unknown {
  try {
    return message.json<unknown>();
  } catch {
    return undefined;
  }
}
