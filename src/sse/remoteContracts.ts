import { asyncScheduler, BehaviorSubject, defer, filter, map, type Observable, share, Subject, takeUntil } from 'rxjs';
import { TokenSource, type Token, userLeft } from '../client/TokenSource.js';
import { makeContract, type AnyContract, type ContractOf, type ContractTypes } from '../contracts/Contract.js';
import { contractsFor } from '../contracts/contractsFor.js';
import type { ContractPolicies, ContractQuery } from '../contracts/ContractQuery.js';
import { type LiveContracts, toLiveContracts } from '../contracts/liveContracts.js';
import { loading, type View, viewOf } from '../contracts/LiveState.js';
import { type SharedContracts, type ShareOptions, shareViews } from '../contracts/shareContracts.js';
import type { Diagnostic, Report } from '../diagnostics/Diagnostic.js';
import { DecodeError } from '../errors/feed.js';
import { fetchStream, type StreamPort, receive, type RemoteServer } from './receive.js';
import { parseHeaders } from '../http/HttpPort.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { retryPolicy, retryTransient, type RetryPolicy } from '../http/retry.js';
import { ReceivedContracts } from './ReceivedContracts.js';

/**
 * The contracts to show, of those that a server sends.
 *
 * @category Server-sent events
 */
export interface RemoteQuery<M extends ContractTypes = ContractTypes> {
  /** Templates and interfaces, as for `liveContracts`. The page decodes the payloads by them. Default: all contracts. */
  readonly types?: M | undefined;
  /**
   * Shows only what these parties see. The server decides what it sends, whatever the page requests. An empty list has
   * no effect, and an empty list of an Observable sees nothing.
   *
   * @defaultValue all that the server sends
   */
  readonly parties?: ContractQuery['parties'] | undefined;
  /** The handling of a contract whose payload cannot be decoded, as for `liveContracts`. */
  readonly onUndecodable?: ContractPolicies['onUndecodable'];
}

/**
 * Options of {@link remoteContracts}.
 *
 * @category Server-sent events
 */
export interface RemoteOptions {
  /**
   * A bearer token, or a function that provides one, as for `createLedger`. With `session.token` of `canton-rx/session` itself, the
   * views end with a `SignedOutError` when the user leaves. Default: none, for a session with cookies.
   */
  readonly token?: Token | undefined;
  /** Further headers of the requests. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Another `fetch`: for example one that sends cookies to another origin. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * How long nothing may come from the server, in milliseconds, before the page connects again. The server sends heartbeats.
   *
   * @defaultValue 45000
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * The maximum number of characters of an event. The first one has all contracts.
   *
   * @defaultValue 33554432
   */
  readonly maxEventLength?: number | undefined;
  /** How to retry, as for `createLedger`. Without `giveUpAfterMs`, an outage of any length does not end the view. */
  readonly retry?: RetryPolicy | undefined;
}

/**
 * Returns a live view of the contracts that a server sends with `toServerSentEvents`. It has everything that `liveContracts`
 * has, and needs no access to a participant. Cold: it connects with the first subscription, and all subscriptions share the
 * connection.
 *
 * After an outage it connects again, with back-off, and continues after the last event that it has; or with all contracts, if
 * the server does not hold what it has missed. Until then its contracts are stale. Contracts that have not changed stay the
 * same objects.
 *
 * Ends with an `UnauthorizedError` if the server answers 401 and the token function has no other token, with an `ApiError` for
 * 403, with a `DecodeError` for an event that it cannot read, and with a {@link WireVersionError} if the server has another
 * version of the events. Errors of the view of the server are outages.
 *
 * @param url - the address of the stream: absolute, or in a browser relative to the page
 * @throws TypeError for an invalid address or option
 * @example
 * ```ts
 * import { contractType } from 'canton-rx';
 * import { remoteContracts } from 'canton-rx/sse';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const ious = remoteContracts(
 *   'https://app.example/contracts',
 *   { types: { iou: Iou } },
 *   { token: () => fetch('/token').then((response) => response.text()) },
 * );
 * const watching = ious.all$().subscribe((contracts) => {
 *   for (const contract of contracts) if (contract.type === 'iou') console.log(contract.payload.amount);
 * });
 * watching.unsubscribe();
 * ```
 *
 * @category Server-sent events
 */
export function remoteContracts<M extends ContractTypes>(
  url: string | URL,
  query: RemoteQuery<M> = {},
  options: RemoteOptions = {},
): LiveContracts<ContractOf<M>> {
  const view$ = openRemote(url, query, options, fetchStream(options.fetch));
  return toLiveContracts(
    // the contracts have the types of the query
    (view$ as Observable<View<ContractOf<M>>>).pipe(
      share({ connector: () => new BehaviorSubject<View<ContractOf<M>>>(loading) }),
    ),
  );
}

/**
 * Shares remote views by query, as `shareContracts` does for a ledger: for the hooks of `canton-rx/react` and the signals of
 * `canton-rx/angular`. Each query has its own connection. Browsers have six connections to an origin without HTTP/2.
 *
 * @param url - the address of the stream, or a function that returns that of a query
 * @throws TypeError for an invalid address or option
 * @example
 * ```ts
 * import { LedgerProvider, useContracts } from 'canton-rx/react';
 * import { shareRemoteContracts } from 'canton-rx/sse';
 * import { createElement } from 'react';
 *
 * const contracts = shareRemoteContracts('https://app.example/contracts');
 * const Count = () => useContracts({}).contracts.length;
 * const App = () => createElement(LedgerProvider, { contracts }, createElement(Count));
 * ```
 *
 * @category Server-sent events
 */
export function shareRemoteContracts(
  url: string | URL | ((query: RemoteQuery) => string | URL),
  options: RemoteOptions & ShareOptions = {},
): SharedContracts {
  const open = fetchStream(options.fetch);
  const addressOf = (query: RemoteQuery): string | URL => (typeof url === 'function' ? url(query) : url);
  return shareViews((query) => openRemote(addressOf(query), query, options, open), options);
}

/**
 * Returns a view that is not shared: each subscription has its own connection. Throws for an invalid address or option.
 *
 * @param open - sends the requests
 */
function openRemote(
  url: string | URL,
  { types, parties = [], onUndecodable }: RemoteQuery,
  options: RemoteOptions,
  open: StreamPort,
): Observable<View<AnyContract>> {
  const { token, headers = {}, idleTimeoutMs = 45_000, maxEventLength = 32 * 2 ** 20 } = options;
  checkPositive({ idleTimeoutMs });
  checkPositive({ maxEventLength }, true);
  const address = addressIn(url);
  const added = parseHeaders(headers);
  const { host, pathname: path } = address;
  const retry = retryPolicy({ giveUpAfterMs: Infinity }, options.retry);
  // shared by all subscriptions, so that they share the calls of the token function
  const tokens = new TokenSource(token, idleTimeoutMs);
  const headersWith = (bearer: string | undefined): Readonly<Record<string, string>> => ({
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    ...added,
  });
  const make = makeContract(types, ({ templateId, problems, offset }) => {
    if (onUndecodable === 'fail') throw new DecodeError(templateId, problems, offset);
  });
  const view$ = defer(() => {
    const diagnostics$ = new Subject<Diagnostic>();
    const report: Report = (body) => {
      diagnostics$.next({ ...body(), at: asyncScheduler.now() });
    };
    const server: RemoteServer = {
      ...{ url: address, host, open, idleTimeoutMs, maxEventLength, tokens, headersWith, report, hasAnswered: false },
    };
    const received = new ReceivedContracts(server, make);
    const batches$ = defer(() => receive(server, received.lastEventId)).pipe(
      map((events, index) => {
        if (index === 0) {
          received.begin();
          report(() => ({ _tag: 'SocketOpened', path, beginExclusive: received.offset }));
        }
        return received.apply(events);
      }),
      // a server that accepts requests, and ends them without an event, is not healthy
      filter((batch) => batch !== undefined),
      retryTransient({ retry, report }),
    );
    return viewOf(batches$, diagnostics$);
  }).pipe(takeUntil(userLeft(token)));
  if (parties === 'any' || ('length' in parties && parties.length === 0)) return view$;
  return contractsFor(toLiveContracts(view$), parties).view$;
}

/** Returns an address as an absolute one. */
function addressIn(url: string | URL): URL {
  // Deno has the name without a value
  const base = (globalThis as { readonly location?: { readonly href: string } }).location?.href;
  if (!URL.canParse(url, base))
    throw new TypeError('url must be an absolute http(s) URL; in a browser, it may be relative');
  return new URL(url, base);
}
