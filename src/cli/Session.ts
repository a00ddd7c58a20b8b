import { defer, ignoreElements, map, merge, type Observable, of, take, tap, timer } from 'rxjs';
import { createLedger, type Ledger, type LedgerOptions } from '../index.js';
import { UsageError } from './arguments.js';
import { addressOf, checkAdvice, type Connection } from './Connection.js';
import { paintFor, type StatusLine, statusLine } from './terminal.js';
import { errorLine, hasCode, type World } from './World.js';

/** What a command works with: a ledger, the outputs, and a status line. */
export interface Session {
  readonly connection: Connection;
  readonly world: World;
  readonly ledger: Ledger;
  readonly status: StatusLine;
}

/** Creates the session of a command; with WebSockets if `isPushed`. */
export const openSession = (
  { isPushed = false, ...connection }: Connection & { readonly isPushed?: boolean },
  world: World,
): Observable<Session> =>
  defer(() => (isPushed ? loadTransport() : of(undefined))).pipe(
    map((transport) => {
      const status = statusLine(world.stderr, paintFor(world.stderr, world.env));
      return { connection, world, ledger: openLedger(connection, transport), status };
    }),
  );

/** The ledger of a connection. */
export const openLedger = ({ ledger: baseUrl, token, fetch }: Connection, transport?: Transport): Ledger =>
  createLedger({ baseUrl, token, fetch, transport });

type Transport = NonNullable<LedgerOptions['transport']>;

/** An entry of `canton-rx/ws`. */
interface WsModule {
  readonly webSocketTransport: () => Transport;
}

/**
 * Loads the WebSockets of the package `ws`, which send the token as a header. Without the package, loads those of Node.js, or
 * rejects with a {@link UsageError} if Node.js has none.
 *
 * @param load - imports the module that requires the package
 *
 * @internal
 */
export async function loadTransport(
  load: () => Promise<WsModule> = () => import('../ws/index.js'),
): Promise<Transport> {
  const { webSocketTransport } = await load().catch((error: unknown) => {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    if ('WebSocket' in globalThis) return import('../ws/browser.js');
    throw new UsageError('--websocket requires the package ws with this version of Node.js: npm install ws');
  });
  return webSocketTransport();
}

/** How long a command waits in silence for its first response, in milliseconds. */
const silenceMs = 3_000;

/**
 * The ledger end, as the first response of a ledger: a feed retries while a ledger cannot be reached, but a mistyped URL
 * should fail at once. Reports to stderr if it takes long: a wrong port may accept connections and never answer.
 */
export const firstAnswer = ({ ledger, connection, world, status }: Session): Observable<number> => {
  const hint$ = timer(silenceMs).pipe(
    tap(() => {
      status.clear();
      world.stderr.write(errorLine(`no response from ${addressOf(connection)} yet; ${checkAdvice}`));
    }),
    ignoreElements(),
  );
  return merge(ledger.ledgerEnd(), hint$).pipe(take(1));
};
