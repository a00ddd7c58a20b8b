import {
  asyncScheduler,
  catchError,
  concatMap,
  defer,
  EMPTY,
  expand,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  queueScheduler,
  subscribeOn,
  tap,
} from 'rxjs';
import type { ContractElement, ContractEntry } from '../../codecs/ContractEntry.js';
import type { Offset } from '../../codecs/scalars.js';
import type { EventFormat } from '../../codecs/UpdateFormat.js';
import { isLedgerError, type LedgerError } from '../../errors/LedgerError.js';
import { verdict } from '../../errors/verdict.js';
import { DecodeError, LedgerResetError, PageLimitError, SnapshotLimitError } from '../../errors/feed.js';
import { isUnavailable } from '../../history/participant.js';
import { isTimeout } from '../../feed/adaptRequest.js';
import { isBeyondEnd, isEndBeforeCursor } from '../../feed/pageRequest.js';
import type { Client } from '../../client/Client.js';
import { type Call, exchange } from '../../client/exchange.js';
import { stopwatch } from '../../http/clock.js';
import { mapError, retryTransient } from '../../http/retry.js';
import type { ContractsSource } from '../ContractQuery.js';

/** A snapshot that is being read. All requests for it have the same offset and the same format. */
export interface Snapshot<O extends Offset | undefined = Offset | undefined> {
  readonly source: ContractsSource;
  readonly eventFormat: EventFormat;
  /** `undefined` if the participant chooses it with the first page. */
  readonly offset: O;
  /** The time for which the ledger may end before the offset, in milliseconds. Default: as long as the policy allows. */
  readonly maxLagMs?: number | undefined;
  /** Called if a list without a limit takes too long. That ends the attempt with a `SnapshotLimitError`. */
  readonly onSlowList: () => void;
}

/**
 * The fields that all requests for a snapshot have. Since 3.7, a participant leaves out reassignments of which it has
 * seen only one half, unless the request includes them. Without them, a contract in flight would be missing, and one that
 * is spent on its new synchronizer would seem active. Earlier participants ignore the field.
 */
export const snapshotFields = ({ eventFormat, offset }: Pick<Snapshot, 'eventFormat' | 'offset'>): object => ({
  activeAtOffset: offset,
  eventFormat,
  includeIncompleteReassignments: true,
});

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
  /** Whether another path has the same entries, so that one which is missing or blocked is not requested again. */
  readonly hasAlternative?: boolean;
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
    let previous: AnsweredRequest | undefined;
    const read = (token: string | undefined, offset: Offset | undefined): Observable<Answer> => {
      const request = requestOf(token);
      return requestAnswer(snapshot, request, previous).pipe(
        map((answer) => {
          previous = { request, firstEntry: firstEntryOf(answer) };
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

/** A request whose response has arrived. */
interface AnsweredRequest {
  readonly request: AnswerRequest;
  /** The constant part of the first entry of the response; `undefined` if it has none. */
  readonly firstEntry: string | undefined;
}

const firstEntryOf = ({ elements: [first] }: Answer): string | undefined => first && fixedPartOf(first);

/**
 * Returns, as JSON, what a participant repeats if it sends an element again. Which created event it puts next to an
 * unassigned event may depend on the elements of the request.
 */
export const fixedPartOf = ({ contractEntry: entry }: ContractElement): string =>
  JSON.stringify(entry._tag === 'IncompleteUnassigned' ? entry.unassignedEvent : entry);

/**
 * Requests one response. Retries after a transient failure, with the same token and possibly a smaller limit. Another
 * ledger may accept the token. So after a failure, the previous request is repeated: its response must begin as before.
 */
const requestAnswer = (snapshot: Snapshot, request: AnswerRequest, previous?: AnsweredRequest): Observable<Answer> =>
  defer(() => {
    let hasFailed = false;
    return requestOnce(snapshot, request).pipe(
      tap({
        error: () => {
          hasFailed = true;
        },
      }),
      retryAnswer(snapshot, (error) => !(request.hasAlternative === true && isUnavailable(error))),
      concatMap((answer) =>
        hasFailed && previous !== undefined ? proveAnswer(snapshot, previous).pipe(map(() => answer)) : [answer],
      ),
    );
  });

/** The evidence that a snapshot is continued on another ledger. */
export const otherSnapshot = 'the active contracts are not those of the same snapshot';

/** Emits if a request gets the response that it got before. Fails with a `LedgerResetError` if not. */
const proveAnswer = (snapshot: Snapshot, { request, firstEntry }: AnsweredRequest): Observable<unknown> =>
  requestAnswer(snapshot, request).pipe(
    tap((answer) => {
      if (firstEntryOf(answer) !== firstEntry) throw new LedgerResetError(answer.offset, undefined, otherSnapshot);
    }),
  );

/**
 * Retries after a transient failure, and while the ledger ends before the offset of the snapshot. That was at or before the
 * ledger end: the participant lags, or reads again what it had. If it does so for too long, the error is a
 * `LedgerResetError`.
 */
export const retryAnswer =
  <A>(
    { source, offset = 0, maxLagMs = Infinity }: Snapshot,
    isRetried: (error: LedgerError) => boolean,
  ): MonoTypeOperatorFunction<A> =>
  (answers$) => {
    const giveUpAfterMs = Math.min(maxLagMs, source.retry.giveUpAfterMs);
    return answers$.pipe(
      mapError((error) => (isBeyondEnd(error) ? new LedgerResetError(offset) : error)),
      retryTransient({ ...source, retry: { ...source.retry, giveUpAfterMs } }, isEndBeforeCursor),
      retryTransient(source, (error) => error._tag !== 'LedgerResetError' && isRetried(error)),
    );
  };

/** A response that takes less time than this was fast, so that a page may be ten times as large. In milliseconds. */
const fastMs = 2_000;

/**
 * A participant gives up on a response after 20 000 ms. A failure before this time, in milliseconds, is not about the
 * size.
 */
const slowMs = 15_000;

const requestOnce = (snapshot: Snapshot, request: AnswerRequest): Observable<Answer> =>
  defer(() => {
    const { client } = snapshot.source;
    const { path, limitOf, call, read } = request;
    const limit = limitOf();
    const tookMs = stopwatch();
    return exchange(client, { method: 'POST', path, ...call(limit) }, (json) => read(json, limit)).pipe(
      tap(() => {
        if (tookMs() < fastMs) snapshotsOf(client).answered();
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
  { source: { client }, offset = 0, onSlowList }: Snapshot,
  error: unknown,
  limit: number,
  tookMs: number,
): boolean {
  if (!isLedgerError(error)) return false;
  const isTooLarge =
    verdict(error) === 'shrink' || (isLedgerError(error, 'ApiError') && /page size/i.test(error.reason));
  if (!isTooLarge && !isTimeout(error, { tookMs })) return false;
  if (limit === noLimit) {
    const isSlow = error._tag === 'RequestTimeoutError' || (isLedgerError(error, 'ApiError') && tookMs >= slowMs);
    if (!isTooLarge && !isSlow) return false;
    if (!isTooLarge) onSlowList();
    throw new SnapshotLimitError(0, offset);
  }
  if (isTooLarge && limit === 1) throw new PageLimitError(offset);
  snapshotsOf(client).tooLarge(limit);
  return isTooLarge;
}

/** The time for which no pages are requested after the participant did not serve them, in milliseconds. */
const pagesRetryMs = 60_000;

/** The learned limits of the snapshots of a participant. All readers of a ledger's contracts share them. */
class SnapshotLimits {
  #pagesMissingAt = -Infinity;
  #limit = Infinity;

  /** Whether to request pages. They are requested again after a while, or if the clock was changed. */
  get hasPages(): boolean {
    return Math.abs(asyncScheduler.now() - this.#pagesMissingAt) >= pagesRetryMs;
  }

  /** Records that the participant, or a gateway in front of it, does not serve pages. That may be temporary. */
  pagesMissing(): void {
    this.#pagesMissingAt = asyncScheduler.now();
  }

  /** The maximum number of contracts in a page or a list. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Records a fast response: later pages may be a little larger. */
  answered(): void {
    this.#limit *= 1.1;
  }

  /**
   * Records that a page with `limit` contracts was too large or took too long: later pages have at most half as many.
   * Of several such pages, the smallest counts.
   */
  tooLarge(limit: number): void {
    this.#limit = Math.min(this.#limit, Math.max(1, limit / 2));
  }
}

/** Returns what is known about the snapshots of a participant. */
export const snapshotsOf = ({ learned }: Client): SnapshotLimits => learned.of(SnapshotLimits);
