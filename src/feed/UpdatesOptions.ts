import type { ObservableInput } from 'rxjs';
import { isRecord } from '../codecs/internal/Codec.js';
import { problemsOf } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { type Update, UpdateElement } from '../codecs/Update.js';
import { updatesBody, type UpdatesRange, UpdatesRequest, type UpdatesSelection } from '../codecs/UpdatesRequest.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { InvalidRequestError } from '../errors/request.js';
import { bareOffset, LedgerPosition } from '../codecs/LedgerPosition.js';
import { type KnownHistory, ReaderHistory } from '../history/ReaderHistory.js';
import { validateRequest } from '../client/exchange.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { retryPolicy, type RetryPolicy } from '../http/retry.js';
import { catchUp } from './catchUp.js';
import { readRange } from './pageRequest.js';
import type { FeedSource, Gap, LedgerFeed, Transport } from './LedgerFeed.js';
import type { FeedElement } from './Page.js';
import { poll } from './poll.js';
import type { Client } from '../client/Client.js';

/**
 * Options of a feed.
 *
 * @category Ledger
 */
export interface UpdatesOptions {
  /**
   * The maximum number of updates per request. If the participant refuses a page as too large, all feeds of the ledger
   * halve the limit.
   *
   * @defaultValue 200
   */
  readonly maxPageSize?: number | undefined;
  /**
   * How long a request for new updates waits for an update, in milliseconds (`stream_idle_timeout_ms` on the wire). It
   * should be well below the request timeout of the participant (20 000) and of every proxy.
   *
   * @defaultValue 5000, and 12 000 after two requests in a row without an update
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * How a feed without an end receives new updates once it has caught up. With `'http'`, it polls. With a transport,
   * such as `webSocketTransport()` from `canton-rx/ws`, the participant pushes them. Default: the ledger's transport.
   */
  readonly transport?: 'http' | Transport | undefined;
  /**
   * The maximum number of ranges that the feed reads at the same time while it catches up, 1 to 32. It emits their
   * updates in order, and holds at most that many pages in memory. With `1`, it requests a page only after it has
   * emitted all updates of the previous page.
   *
   * @defaultValue 2 to 16, depending on the latency of the participant
   */
  readonly parallelRanges?: number | undefined;
  /**
   * What to do with an update that cannot be decoded. `'fail'` emits the updates before it and ends the feed with a
   * `DecodeError`. `'emit'` emits an {@link UndecodedUpdate} and continues.
   *
   * @defaultValue 'fail'
   */
  readonly onUndecodable?: 'fail' | 'emit' | undefined;
  /**
   * What to do if the feed cannot continue without a gap, because the ledger is pruned beyond the cursor, ends before it,
   * or is another one.
   *
   * - `'fail'` ends the feed with the error of the gap.
   * - A function chooses where to resume: the first offset that it emits is the new `beginExclusive`. The feed ends
   *   with the error of the gap if the function emits no offset, or an offset with the same gap: one at or before the
   *   cursor if the ledger is pruned, one at or after the cursor if the ledger ends before it.
   *
   * The feed does not emit the updates in the gap. To recover, you can read the active contracts at the new offset.
   *
   * @defaultValue 'fail'
   */
  readonly onGap?: 'fail' | ((gap: Gap) => ObservableInput<Offset>) | undefined;
  /**
   * What to do if the address of the ledger leads to another participant that has the same history, as after a failover.
   *
   * - `'fail'` ends the feed with a `LedgerResetError`.
   * - `'relocate'` finds the position of the feed on that participant, and continues there: without a gap, and without
   *   repeating an update. If the participant lags, the feed waits for it as for one that does not answer. Not for
   *   a request with `endInclusive`, which is an offset of the former participant, and not for descending order.
   *
   * A participant that was restored from a backup needs no option: it is the same one, and its updates are found again.
   *
   * @defaultValue 'fail'
   */
  readonly onOtherNode?: 'fail' | 'relocate' | undefined;
  /** How to retry after a transient failure. Default: the ledger's policy. */
  readonly retry?: RetryPolicy | undefined;
}

/** Whether an error is a gap, after which only the caller can choose where to resume. */
export const isGapError = (u: unknown): u is Gap['error'] =>
  isLedgerError(u, 'PrunedError') || isLedgerError(u, 'LedgerResetError');

const maxParallelRanges = 32;

/** Throws a TypeError if an option is invalid. */
export function checkOptions(options: UpdatesOptions): void {
  const { maxPageSize = 1, idleTimeoutMs = 1, parallelRanges = 1, transport = 'http', retry } = options;
  checkPositive({ maxPageSize, idleTimeoutMs, parallelRanges }, true);
  // responses that arrive before the first one are later emitted in one call stack
  if (parallelRanges > maxParallelRanges) throw new TypeError(`parallelRanges must be at most ${maxParallelRanges}`);
  if (!['http', 'Transport'].includes(transport === 'http' ? transport : transport._tag))
    throw new TypeError("transport must be 'http' or a Transport");
  retryPolicy(retry);
  const { onOtherNode = 'fail' } = options;
  if (!['fail', 'relocate'].includes(onOtherNode)) throw new TypeError("onOtherNode must be 'fail' or 'relocate'");
}

/**
 * A request for the updates after a position; otherwise as `UpdatesRequest`.
 *
 * @category Requests
 */
export type UpdatesAfter = Selection & {
  /**
   * What the caller has read, as `positions()` gave it. The feed emits nothing before it has found the position on the
   * ledger that answers.
   */
  readonly after: LedgerPosition;
  /** Not allowed together with `after`. */
  readonly beginExclusive?: never;
  /** The last offset; absent for a request without an end. It is an offset of the participant of the position. */
  readonly endInclusive?: Offset | null | undefined;
  /** Only ascending. */
  readonly descendingOrder?: false | null | undefined;
};

/**
 * TypeDoc shows the fields of a type of this file, in place of the name of an imported one.
 *
 * @inline
 */
type Selection = UpdatesSelection;

/** A feed of updates. */
export interface UpdatesFeed extends LedgerFeed {
  readonly request: UpdatesRequest;
}

/**
 * Creates a feed of updates for one subscription. Throws an `InvalidRequestError` if the request is invalid.
 *
 * @param known - what is already known of the ledger, to which the start of the feed belongs; by default its last update
 */
export function createLedgerFeed(
  client: Client,
  updatesRequest: UpdatesRequest | UpdatesAfter,
  options: UpdatesOptions,
  ledgerRetry: RetryPolicy | undefined,
  report: Report,
  known?: KnownHistory,
): UpdatesFeed {
  const start = known ?? positionIn(updatesRequest);
  const { after, ...rest } = { ...updatesRequest } as Partial<UpdatesAfter>;
  const request = validateRequest(
    UpdatesRequest,
    after === undefined ? rest : { ...rest, beginExclusive: after.offset },
  );
  // read in ranges with an end, several at once, and then with polls
  const source: FeedSource<Update> = {
    field: 'update',
    codec: UpdateElement,
    path: ({ learned }) => learned.updatesPath,
    body: (range, path) => updatesBody(request, range, path),
    lookUp: (updateId) => {
      const { updateFormat } = updatesBody(request, { beginExclusive: 0 }, '/v2/updates');
      return { updateId, updateFormat };
    },
    readRange,
    catchUp,
    follow: poll,
  };
  return { ...createFeed(client, source, request, options, ledgerRetry, report, start), request };
}

/** The position in a request, to be proven; `undefined` if it has an offset. */
function positionIn(request: UpdatesRequest | UpdatesAfter): KnownHistory | undefined {
  // a caller in JavaScript may pass anything
  if (!isRecord(request) || !('after' in request)) return undefined;
  const { beginExclusive } = request as { readonly beginExclusive?: unknown };
  if (beginExclusive !== undefined)
    throw new InvalidRequestError([{ path: 'beginExclusive', expected: 'absent with after' }]);
  const position = LedgerPosition.decode(request.after);
  if (position._tag === 'Left')
    throw new InvalidRequestError(
      problemsOf(position.left).map(({ path, expected }) => ({ path: `after.${path}`, expected })),
    );
  const { offset, lastUpdate } = position.right;
  // nothing before the last update would be read again, whoever has set the offset back
  if (lastUpdate !== undefined && lastUpdate.offset > offset)
    throw new InvalidRequestError([{ path: 'after.lastUpdate.offset', expected: 'after.offset at most' }]);
  return { position: position.right, mustProve: true };
}

/** Creates a feed of a source for one subscription. */
export const createFeed = <A extends FeedElement>(
  client: Client,
  source: FeedSource<A>,
  request: UpdatesRange,
  {
    maxPageSize = 200,
    idleTimeoutMs,
    transport = 'http',
    onUndecodable = 'fail',
    onGap = 'fail',
    ...options
  }: UpdatesOptions,
  ledgerRetry: RetryPolicy | undefined,
  report: Report,
  known?: KnownHistory,
): LedgerFeed<A> => ({
  client,
  source: transport === 'http' ? source : transport.over(source),
  request,
  maxPageSize,
  idleTimeoutMs: idleTimeoutMs ?? 5_000,
  quietTimeoutMs: idleTimeoutMs ?? quietTimeoutMs,
  parallelRanges: options.parallelRanges,
  onUndecodable,
  onGap,
  retry: retryPolicy(ledgerRetry, options.retry),
  report,
  success$: client.success$,
  onOtherNode: options.onOtherNode ?? 'fail',
  history: new ReaderHistory(
    known ?? { position: bareOffset(request.beginExclusive) },
    silenceMs(transport, idleTimeoutMs),
  ),
});

/** The idle timeout after polls without an update, in milliseconds, unless the caller sets one. */
const quietTimeoutMs = 12_000;

/** How long a feed may wait for a response while all is well, in milliseconds: a socket may be silent for 75 000. */
const silenceMs = (transport: 'http' | Transport, idleTimeoutMs = quietTimeoutMs): number =>
  transport === 'http' ? idleTimeoutMs : Math.max(idleTimeoutMs, 40_000);
