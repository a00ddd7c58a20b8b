import {
  JetStreamApiError,
  JetStreamError,
  type Consumer,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import { Observable } from 'rxjs';
import { RelayError } from './RelayError.js';

// what is lost on the way, with a server that goes, is missed after one or two of these
const expires = 5_000;

/** The messages of a consumer, across reconnects; errors when the consumer or its stream is gone, or the connection closed. */
export const messagesOf = (consumer: Consumer, stream: string): Observable<JsMsg> =>
  new Observable<JsMsg>((subscriber) => {
    let messages: ConsumerMessages | undefined;
    const callback = (message: JsMsg): void => {
      subscriber.next(message);
    };
    const ended = (cause?: unknown): void => {
      subscriber.error(errorOf(stream, cause));
    };
    consumer
      .consume({ callback, expires, idle_heartbeat: expires / 2, abort_on_missing_resource: true })
      .then((begun) => {
        messages = begun;
        if (subscriber.closed) messages.stop();
        return messages.closed();
      })
      .then(ended, ended);
    return () => messages?.stop();
  });

function errorOf(stream: string, cause: unknown): RelayError {
  const isGone = cause instanceof JetStreamApiError || cause instanceof JetStreamError;
  if (isGone) return new RelayError('durable', stream, `the consumer or its stream is gone: ${cause.message}`, cause);
  return new RelayError('connection', stream, 'the connection is closed', cause);
}
