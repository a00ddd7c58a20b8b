import { JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { defer, retry, timer, type Observable } from 'rxjs';
import { isRelayError } from './RelayError.js';

const attempts = 10;

/** Asks a server, and for about a minute again where it does not answer: it may be on its way back. */
export const asking = <A>(connection: NatsConnection, ask: () => Promise<A>): Observable<A> =>
  defer(ask).pipe(
    retry({
      count: attempts,
      delay: (error: unknown, failures) => {
        if (error instanceof JetStreamApiError || isRelayError(error) || connection.isClosed()) throw error;
        return timer(Math.random() * Math.min(5000, 100 * 2 ** failures));
      },
    }),
  );
