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

/** A snapshot that is being read. Everything that the service is asked about it has the same offset and the same format. */
export interface Snapshot<O extends Offset | undefined = Offset | undefined> {
  readonly source: ContractsSource;
  readonly eventFormat: EventFormat;
  /** `undefined`: the service chooses it with the first page. */
  readonly offset: O;
}

/** A part of a snapshot, as one answer has it. */
export interface Answer {
  readonly elements: readonly ContractElement[];
  readonly offset: Offset;
  /** The token with which the snapshot continues; `undefined` if it is complete. */
  readonly next: string | undefined;
}

/** A request for a part of a snapshot. */
interface AnswerRequest {
  readonly path: string;
  /** The maximum number of entries now. */
  readonly limitOf: () => number;
  readonly call: (limit: number) => Pick<Call, 'query' | 'body'>;
  readonly read: (json: unknown, limit: number) => Answer;
}

/** The limit of an answer that must have all entries. The service refuses it, or does not answer in time, if it cannot. */
export const noLimit = 2 ** 31 - 1;

/** The entries of elements. An empty one means nothing. */
export const entriesOf = (elements: readonly ContractElement[]): readonly ContractEntry[] =>
  elements
    .map(({ contractEntry }) => contractEntry)
    .filter((entry) => entry._tag !== 'UnknownContractEntry' || entry.variant !== 'JsEmpty');

/** Reads answers until one has no token. An answer is emitted before the next one is requested. */
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
          // the same parts would be requested again and again
          if (tokens.has(next) || elements.length === 0) throw unexpected(request, 'token', 'progress');
          tokens.add(next);
          return answer;
        }),
      );
    };
    return read(undefined, snapshot.offset).pipe(
      // queued: synchronous answers would nest the steps
      expand(({ next, offset }) => (next === undefined ? EMPTY : read(next, offset).pipe(subscribeOn(queueScheduler)))),
    );
  });

const unexpected = ({ path }: AnswerRequest, field: string, expected: string): DecodeError =>
  new DecodeError(path, [{ path: field, expected }]);

/** Requests one answer. Retries after a transient failure, with the same token and perhaps with a smaller limit. */
const requestAnswer = (snapshot: Snapshot, request: AnswerRequest): Observable<Answer> =>
  requestOnce(snapshot, request).pipe(resetIfBeyondEnd(snapshot), retryTransient(snapshot.source));

/** The offset of a snapshot was that of the ledger end, or earlier: a ledger that ends before it was reset, or lags. */
export const resetIfBeyondEnd = <A>({ offset = 0 }: Snapshot) =>
  mapError<A>((error) => (isBeyondEnd(error) ? new LedgerResetError(offset) : error));

/** An answer that takes less than this was fast, in milliseconds: a page may be ten times as large. */
const fastMs = 2_000;

/** A participant gives up an answer after 20 000. One that fails earlier says nothing about its size. In milliseconds. */
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

/** Learns from an error that an answer was too large, or took too long. Returns whether to request a smaller one at once. */
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
