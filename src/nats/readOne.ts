import type { JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { concat, defer, EMPTY, finalize, ignoreElements, of, tap, type Observable } from 'rxjs';
import { OrderError } from '../errors/OrderError.js';
import type { Handler, Work } from '../process/Handler.js';
import { asking } from './asking.js';
import type { HandlerRetry } from './completeRetry.js';
import { gapOf } from './consumerOf.js';
import { handled } from './handled.js';
import type { Places } from './Places.js';
import { notePlace, readPlace, type ReaderPlace } from './ReaderPlace.js';
import { updateOf } from './updateOf.js';

/** A subscription that reads. */
export interface Reading {
  readonly connection: NatsConnection;
  readonly timeoutMs: number;
  readonly stream: string;
  readonly handler: Handler;
  readonly policy: HandlerRetry;
  readonly beatMs: number;
  readonly places: Places;
  readonly durable: string;
  /** What is known to have been read last. */
  place: ReaderPlace;
}

/** Until the server confirms it. The client itself does it once alone, and a failure leaves open what became of it. */
async function acknowledge(connection: NatsConnection, message: JsMsg, timeout: number): Promise<void> {
  const reply = 'reply' in message ? message.reply : undefined;
  if (typeof reply === 'string') await connection.request(reply, acknowledgement, { timeout });
  else await message.ackAck({ timeout });
}

const acknowledgement = new TextEncoder().encode('+ACK');
// long enough that it does not come to a subscription that is about to end
const comesAgainMs = 100;

/** Handles one message, acknowledges it, and emits its update then. What is not handled comes again. */
export const readOne = (reading: Reading, message: JsMsg): Observable<Work> =>
  defer(() => {
    const { connection, timeoutMs, places, durable } = reading;
    const ask = <A>(call: () => Promise<A>): Observable<A> => asking(connection, call);
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

/** The update of the message that is next; of one that was read nothing. */
function checked({ stream, place }: Reading, message: JsMsg): Work | undefined {
  if (message.seq <= place.sequence) return undefined;
  if (message.seq > place.sequence + 1) throw gapOf(stream, place.sequence + 1, message.seq);
  const update = updateOf(stream, message);
  if (update.offset <= place.offset) throw new OrderError(update.offset, place.offset);
  return update;
}
