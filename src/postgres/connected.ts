import type { Pool, PoolClient } from 'pg';
import { Observable, timeout } from 'rxjs';

/** A connection that nobody else uses. */
export interface Connection {
  readonly client: PoolClient;
  /** Errors when it breaks. */
  readonly lost$: Observable<never>;
}

/**
 * Takes a connection out of the pool, which may take so long. Unsubscribing closes it, so that nothing it holds outlives
 * it.
 */
export const connected = (pool: Pool, timeoutMs: number): Observable<Connection> =>
  new Observable<Connection>((subscriber) => {
    let close = (): void => undefined;
    pool.connect().then(
      (client) => {
        // without a listener, a connection that breaks ends the program
        client.on('error', ignore);
        close = () => {
          client.release(true);
        };
        if (subscriber.closed) close();
        else subscriber.next({ client, lost$: lost(client) });
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      close();
    };
  }).pipe(timeout({ first: timeoutMs }));

const ignore = (): void => undefined;

const lost = (client: PoolClient): Observable<never> =>
  new Observable((subscriber) => {
    const fail = (error: Error): void => {
      subscriber.error(error);
    };
    client.on('error', fail);
    return () => client.off('error', fail);
  });
