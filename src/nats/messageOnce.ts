import type { Consumer, ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { Observable } from 'rxjs';

// a request that is lost on the way, with a server that goes, is missed after one or two of these
const expires = 5_000;

/**
 * Asks for one message and no more, so that none is on its way to a subscriber who leaves when it has been handled. Completes
 * without one after a while.
 */
export const messageOnce = (consumer: Consumer): Observable<JsMsg> =>
  new Observable<JsMsg>((subscriber) => {
    let messages: ConsumerMessages | undefined;
    const read = async (): Promise<void> => {
      messages = await consumer.fetch({ max_messages: 1, expires, idle_heartbeat: expires / 2 });
      if (subscriber.closed) messages.stop();
      for await (const message of messages) subscriber.next(message);
    };
    read().then(
      () => {
        subscriber.complete();
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => messages?.stop();
  });
