import {
  asyncScheduler,
  catchError,
  defer,
  EMPTY,
  expand,
  map,
  type Observable,
  queueScheduler,
  subscribeOn,
  tap,
} from 'rxjs';
import type { ContractElement, ContractEntry } from '../../codecs/ContractEntry.js';
import type { Offset } from '../../codecs/scalars.js';
import type { EventFormat } from '../../codecs/UpdateFormat.js';
import { isApiError } from '../../errors/ApiError.js';
import { DecodeError, LedgerResetError, PageLimitError, SnapshotLimitError } from '../../errors/feed.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import { verdict } from '../../errors/verdict.js';
import { isBeyondEnd, isTimeout } from '../../feed/pageRequest.js';
import { exchange } from '../../http/exchange.js';
import type { Call } from '../../http/Link.js';
import { mapError, retryTransient } from '../../http/retry.js';
import type { ContractsSource } from '../ContractsSource.js';
import { snapshotsOf } from './ServiceSnapshots.js';

/** A snapshot that is being read. All requests for it have the same offset and the same format. */
export interface Snapshot<O extends Offset | undefined = Offset | undefined> {
  readonly source: ContractsSource;
  readonly eventFormat: EventFormat;
  /** `undefined` if the participant chooses it with the first page. */
  readonly offset: O;
}

/** A part of a snapshot, from one response. */
export interface Answer {
  readonly elements: readonly ContractElement[];
  readonly offset: Offset;
  /** The token with which the snapshot continues; `undefined` if it is complete. */
  readonly next: string | undefined;
}

/** A request for a part of a snapshot. */
interface AnswerRequest {
  readonly path: string;
  /** Returns the maximum number of entries at this time. */
  readonly limitOf: () => number;
  readonly call: (limit: number) => Pick<Call, 'query' | 'body'>;
  readonly read: (json: unknown, limit: number) => Answer;
}

/**
 * The limit of a response that must have all entries. If that is not possible, the participant rejects the request or
 * does not respond in time.
 */
export const noLimit = 2 ** 31 - 1;

/** Returns the entries of elements. Empty elements carry no information. */
export const entriesOf = (elements: readonly ContractElement[]): readonly ContractEntry[] =>
  elements
    .map(({ contractEntry }) => contractEntry)
    .filter((entry) => entry._tag !== 'UnknownContractEntry' || entry.variant !== 'JsEmpty');

/** Reads responses until one has no token. Emits each response before it requests the next one. */
export const readAnswers = (
  snapshot: Snapshot,
  requestOf: (token: string | undefined) => AnswerRequest,
): Observable<Answer> =>
  defer(() => {
    const tokens = new Set<string>();
    const read = (token: string | undefined, offset: Offset | undefined): Observable<Answer> => {
      const request = requestOf(token);
      return requestAnswer(snapshot, request).pipe(
        map((answer) => {
          if (offset !== undefined && answer.offset !== offset)
            throw unexpected(request, 'activeAtOffset', 'that of the snapshot');
          const { next, elements } = answer;
          if (next === undefined) return answer;
          // otherwise the same parts would be requested without end
          if (tokens.has(next) || elements.length === 0) throw unexpected(request, 'token', 'progress');
          tokens.add(next);
          return answer;
        }),
      );
    };
    return read(undefined, snapshot.offset).pipe(
      // queued, because synchronous responses would nest the steps
      expand(({ next, offset }) => (next === undefined ? EMPTY : read(next, offset).pipe(subscribeOn(queueScheduler)))),
    );
  });

const unexpected = ({ path }: AnswerRequest, field: string, expected: string): DecodeError =>
  new DecodeError(path, [{ path: field, expected }]);

/** Requests one response. Retries after a transient failure, with the same token and possibly a smaller limit. */
const requestAnswer = (snapshot: Snapshot, request: AnswerRequest): Observable<Answer> =>
  requestOnce(snapshot, request).pipe(resetIfBeyondEnd(snapshot), retryTransient(snapshot.source));

/**
 * The offset of a snapshot was at or before the ledger end: if the ledger now ends before it, the ledger was reset or
 * lags.
 */
export const resetIfBeyondEnd = <A>({ offset = 0 }: Snapshot) =>
  mapError<A>((error) => (isBeyondEnd(error) ? new LedgerResetError(offset) : error));

/** A response that takes less time than this was fast, so that a page may be ten times as large. In milliseconds. */
const fastMs = 2_000;

/**
 * A participant gives up on a response after 20 000 ms. A failure before this time, in milliseconds, is not about the
 * size.
 */
const slowMs = 15_000;

const requestOnce = (snapshot: Snapshot, request: AnswerRequest): Observable<Answer> =>
  defer(() => {
    const { service } = snapshot.source;
    const { path, limitOf, call, read } = request;
    const limit = limitOf();
    const sentAt = asyncScheduler.now();
    const tookMs = (): number => asyncScheduler.now() - sentAt;
    return exchange(service.link, { method: 'POST', path, ...call(limit) }, (json) => read(json, limit)).pipe(
      tap(() => {
        if (tookMs() < fastMs) snapshotsOf(service).answered();
      }),
      catchError((error: unknown) => {
        if (adaptLimit(snapshot, error, limit, tookMs())) return requestOnce(snapshot, request);
        throw error;
      }),
    );
  });

/**
 * Learns from an error that a response was too large or took too long. Returns whether to request a smaller one at
 * once.
 */
function adaptLimit(
  { source: { service }, offset = 0 }: Snapshot,
  error: unknown,
  limit: number,
  tookMs: number,
): boolean {
  if (!isLedgerError(error)) return false;
  const isTooLarge = verdict(error) === 'shrink' || (isApiError(error) && /page size/i.test(error.reason));
  if (!isTooLarge && !isTimeout(error, { tookMs })) return false;
  if (limit === noLimit) {
    const isSlow = error._tag === 'RequestTimeoutError' || (isApiError(error) && tookMs >= slowMs);
    if (isTooLarge || isSlow) throw new SnapshotLimitError(0, offset);
    return false;
  }
  if (isTooLarge && limit === 1) throw new PageLimitError(offset);
  snapshotsOf(service).tooLarge(limit);
  return isTooLarge;
}
