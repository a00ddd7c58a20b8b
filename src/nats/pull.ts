import { createInbox, type Msg, nanos } from '@nats-io/nats-core';
import { Observable } from 'rxjs';
import type { NatsStream } from './NatsStream.js';

/** A message of a consumer. */
export interface Delivery {
  readonly sequence: number;
  /** The number of further messages that the consumer had when it sent this one. */
  readonly pending: number;
  /** The subject that acknowledges it. */
  readonly reply: string;
  readonly message: Msg;
}

/** The messages that a consumer sent for one request. */
export interface Batch {
  readonly deliveries: readonly Delivery[];
  /** Whether the consumer had no more. */
  readonly isEnd: boolean;
  /** Whether the first message exceeds {@link maxBytes}. Only a request for a single message returns it. */
  readonly isTooLarge: boolean;
}

/** A request for messages. */
interface PullRequest {
  readonly consumer: string;
  readonly maxMessages: number;
  /** How long to wait for the first message, in milliseconds; 0 for an immediate response. */
  readonly waitMs: number;
}

/** The maximum size of the messages of a request, in bytes. */
const maxBytes = 8 * 2 ** 20;

/** The delay before the status after the last message, in milliseconds, for a server that sends none. */
const settleMs = 100;

/**
 * Requests messages of a consumer, and emits those that it has, once. They end with a status, according to the server's
 * clock, so no message is in transit when this completes. Fails if the server does not respond in time.
 */
export const pull = (
  { connection, js, stream, timeoutMs }: NatsStream,
  { consumer, maxMessages, waitMs }: PullRequest,
): Observable<Batch> =>
  new Observable<Batch>((subscriber) => {
    const deliveries: Delivery[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (status?: 'end' | 'tooLarge'): void => {
      const isEmpty = deliveries.length === 0;
      const isEnd = status === 'end' || deliveries.at(-1)?.pending === 0;
      subscriber.next({ deliveries, isEnd, isTooLarge: isEmpty && status === 'tooLarge' });
      subscriber.complete();
    };
    const endAfter = (ms: number): void => {
      clearTimeout(timer);
      const count = deliveries.length;
      timer = setTimeout(() => {
        if (deliveries.length > count) endAfter(ms);
        else if (count > 0) end();
        else subscriber.error(new Error('the server did not respond in time'));
      }, ms);
    };
    const inbox = createInbox();
    const subscription = connection.subscribe(inbox, {
      callback: (error, message) => {
        const delivery = error === null ? deliveryOf(message) : undefined;
        if (delivery !== undefined) {
          deliveries.push(delivery);
          if (deliveries.length === maxMessages) end();
          else if (delivery.pending === 0) endAfter(settleMs);
          return;
        }
        const status = error ?? statusOf(message);
        if (!(status instanceof Error)) end(status);
        else if (deliveries.length > 0) end();
        else subscriber.error(status);
      },
    });
    void subscription.closed.then(() => {
      if (!subscriber.closed) subscriber.error(new Error('the connection is closed'));
    });
    endAfter(waitMs + timeoutMs);
    const request = {
      batch: maxMessages,
      no_wait: true,
      ...(waitMs > 0 && { expires: nanos(waitMs) }),
      ...(maxMessages > 1 && { max_bytes: maxBytes }),
    };
    const subject = `${js.apiPrefix}.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    connection.publish(subject, JSON.stringify(request), { reply: inbox });
    return () => {
      clearTimeout(timer);
      subscription.unsubscribe();
    };
  });

/**
 * Reads the subject that acknowledges a message, `$JS.ACK.stream.consumer.attempts.sequence.n.time.pending`. Newer
 * servers add a domain and an account before the stream. A status has none.
 */
function deliveryOf(message: Msg): Delivery | undefined {
  const { reply = '' } = message;
  const tokens = reply.split('.');
  const at = tokens.length < 11 ? 5 : 7;
  if (tokens[1] !== 'ACK') return undefined;
  return { sequence: Number(tokens[at]), pending: Number(tokens[at + 3]), reply, message };
}

/** Returns how a request ended: no more messages, a message that is too large, or an error. */
function statusOf({ headers }: Msg): 'end' | 'tooLarge' | Error {
  const { code = 0, description = '' } = headers ?? {};
  if (description.includes('MaxBytes')) return 'tooLarge';
  // the server also reports a request that is queued after another one with 408
  return code === 404 || (code === 408 && !description.includes('Pending')) ? 'end' : new Error(description);
}
