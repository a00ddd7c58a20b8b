import { defer, map, NEVER, type Observable, ReplaySubject, share, startWith } from 'rxjs';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractChange } from '../contracts/ContractChange.js';
import { checkNotNegative, checkPositive } from '../codecs/internal/numbers.js';
import { elapsed } from '../http/retry.js';
import { ChangeLog } from './ChangeLog.js';
import { Connection } from './Connection.js';

/**
 * Options of {@link toServerSentEvents}.
 *
 * @category Server-sent events
 */
export interface ServerSentEventsOptions {
  /**
   * The header `Last-Event-ID` of the request: where the browser has stopped. Any text is valid: what is not the ID of an
   * event of this view that is still held begins with all contracts.
   */
  readonly lastEventId?: string | readonly string[] | null | undefined;
  /**
   * The time between two comments that keep a connection open, in milliseconds.
   *
   * @defaultValue 15000
   */
  readonly heartbeatMs?: number | undefined;
  /**
   * How many events a connection may lag. One that lags more, because its reader is slow or was away, continues with all
   * contracts in one event. All connections of a view share the events: the last ones, of 2 MiB at most.
   *
   * @defaultValue 1000
   */
  readonly maxBuffered?: number | undefined;
  /**
   * How long the view is kept up to date after its last connection, in milliseconds, so that a browser that connects again
   * gets only what it has missed. In Node.js, that keeps the process running, too.
   *
   * @defaultValue 0
   */
  readonly keepMs?: number | undefined;
  /** Ends the stream when it emits, completes or fails: for example when the user is logged out, or the token expires. */
  readonly until$?: Observable<unknown> | undefined;
}

/**
 * Sends the changes of a live view as server-sent events, for `remoteContracts` in a browser, or for an `EventSource`. The
 * stream begins with all contracts, or with what a browser that connects again has missed. It reads the view from the call
 * on, until it is cancelled, which HTTP servers do when the browser disconnects. It ends when the view ends.
 *
 * All streams of the same `changes$` share one subscription, and each change is encoded once: keep the view of a user for all
 * its connections. A stream holds no events. A reader that is slow gets all contracts instead of what it has not read, so
 * that it costs no memory.
 *
 * The stream shows everything that the view has. Give it a view of what the user may see, such as one of `contractsFor`. The
 * ID of an event gives access to nothing: with the ID of another view, the stream begins with the contracts of this one. When
 * the parties of the view change, the contracts that the user may not see any more are removed at once, and events before
 * that are not sent again.
 *
 * @param changes$ - the `changes$` of a live view
 * @throws TypeError if a number is out of range
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { contractsFor, liveContracts } from 'canton-rx/contracts';
 * import { serverSentEventsHeaders, toServerSentEvents } from 'canton-rx/sse';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const all = liveContracts(ledger, { parties: 'any' });
 * const ofAlice = contractsFor(all, ['alice::1220ab']);
 * const answer = (request: Request): Response =>
 *   new Response(toServerSentEvents(ofAlice.changes$, { lastEventId: request.headers.get('last-event-id') }), {
 *     headers: serverSentEventsHeaders,
 *   });
 * ```
 *
 * @category Server-sent events
 */
export function toServerSentEvents<C extends AnyContract>(
  changes$: Observable<ContractChange<C>>,
  options: ServerSentEventsOptions = {},
): ReadableStream<Uint8Array> {
  const { lastEventId, heartbeatMs = 15_000, maxBuffered = 1_000, keepMs = 0, until$ = NEVER } = options;
  checkPositive({ heartbeatMs });
  checkPositive({ maxBuffered }, true);
  checkNotNegative({ keepMs });
  const id = typeof lastEventId === 'string' ? lastEventId : lastEventId?.join();
  const channel = channelOf(changes$);
  channel.keepMs = keepMs;
  let connection: Connection | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        connection = new Connection(controller, id, maxBuffered);
        connection.open(channel.log$, { heartbeatMs, until$ });
      },
      pull: () => {
        connection?.pull();
      },
      cancel: () => {
        connection?.cancel();
      },
    },
    // events wait in the log, which all connections share
    { highWaterMark: 0 },
  );
}

/**
 * The headers of a response with server-sent events. No proxy may store, change or hold it back.
 *
 * @category Server-sent events
 */
export const serverSentEventsHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * Returns {@link toServerSentEvents} as the response of a handler that returns one: of a route handler of Next.js, of Hono, of
 * Bun and Deno, and of workers.
 *
 * @param changes$ - the `changes$` of a live view
 * @throws TypeError if a number is out of range
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { contractsFor, liveContracts } from 'canton-rx/contracts';
 * import { serverSentEventsResponse } from 'canton-rx/sse';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const ofAlice = contractsFor(liveContracts(ledger, { parties: 'any' }), ['alice::1220ab']);
 * const GET = (request: Request): Response =>
 *   serverSentEventsResponse(ofAlice.changes$, { lastEventId: request.headers.get('last-event-id') });
 * ```
 *
 * @category Server-sent events
 */
export const serverSentEventsResponse = <C extends AnyContract>(
  changes$: Observable<ContractChange<C>>,
  options?: ServerSentEventsOptions,
): Response => new Response(toServerSentEvents(changes$, options), { headers: serverSentEventsHeaders });

/** The changes of a view, for all its connections. */
class Channel {
  /** How long the view is kept up to date after its last connection, in milliseconds. */
  keepMs = 0;
  /** Emits the log of the view at once, and after each change. */
  readonly log$: Observable<ChangeLog>;

  constructor(changes$: Observable<ContractChange>) {
    this.log$ = defer(() => {
      const log = new ChangeLog();
      return changes$.pipe(
        map((change) => {
          log.add(change);
          return log;
        }),
        startWith(log),
      );
    }).pipe(share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: () => elapsed(this.keepMs) }));
  }
}

/**
 * The channel of each `changes$` that was sent. Connections have nothing in common but that object. It ends with the last of
 * them, so that what remains holds no contracts.
 */
const channels = new WeakMap<Observable<unknown>, Channel>();

function channelOf(changes$: Observable<ContractChange>): Channel {
  const channel = channels.get(changes$) ?? new Channel(changes$);
  channels.set(changes$, channel);
  return channel;
}
