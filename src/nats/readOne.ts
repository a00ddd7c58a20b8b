import type { JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { concat, defer, EMPTY, finalize, ignoreElements, of, tap, type Observable } from 'rxjs';
import { OrderError } from '../errors/OrderError.js';
import type { Handler, Work } from '../process/Handler.js';
import { asking } from './asking.js';
import type { HandlerRetry } from './completeRetry.js';
import { handled } from './handled.js';
import { updateOf } from './updateOf.js';

/** A subscription that reads. */
export interface Reading {
  readonly connection: NatsConnection;
  readonly timeoutMs: number;
  readonly stream: string;
  readonly handler: Handler;
  readonly policy: HandlerRetry;
  readonly beatMs: number;
  /** The last message that was handled here, or what is known to have been read before. */
  place: { readonly sequence: number; readonly offset: number };
  /** Remembers a place beyond this subscription. */
  readonly note: (sequence: number) => void;
  /** Errors where a message was removed between the place and a sequence number. */
  readonly gapless: (before: number) => Observable<never>;
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
    const { connection, timeoutMs, stream, place } = reading;
    const acknowledged = asking(connection, () => acknowledge(connection, message, timeoutMs)).pipe(ignoreElements());
    // it was handled, and its acknowledgement came late
    if (message.seq <= place.sequence) return acknowledged;
    let isOver = false;
    const read = defer(() => {
      const update = updateOf(stream, message);
      if (update.offset <= place.offset) throw new OrderError(update.offset, place.offset);
      const work = handled(update, {
        ...reading,
        beat: () => {
          if (!connection.isClosed()) message.working();
        },
        promised: (isPending) => {
          isOver = isPending;
        },
      });
      const done = (): void => {
        isOver = true;
        reading.place = { sequence: message.seq, offset: update.offset };
        reading.note(message.seq);
      };
      const isNext = message.seq === place.sequence + 1;
      return concat(
        isNext ? EMPTY : reading.gapless(message.seq),
        work.pipe(tap({ complete: done })),
        acknowledged,
        of(update),
      );
    });
    return read.pipe(
      finalize(() => {
        if (!isOver && !connection.isClosed()) message.nak(comesAgainMs);
      }),
    );
  });
