import { catchError, concatAll, concatMap, defer, map, type Observable, type ObservableInput, tap } from 'rxjs';
import { ActiveContractsPage, ContractElement, type ContractEntry } from '../../codecs/ContractEntry.js';
import { list } from '../../codecs/internal/field.js';
import type { Offset } from '../../codecs/scalars.js';
import type { DiagnosticOf } from '../../diagnostics/Diagnostic.js';
import { LedgerResetError, SnapshotLimitError } from '../../errors/feed.js';
import { isLedgerError, type LedgerError } from '../../errors/LedgerError.js';
import { isTransient } from '../../errors/verdict.js';
import { ledgerEnd } from '../../feed/ledgerEnd.js';
import { isUnavailable } from '../../history/participant.js';
import type { Transport } from '../../feed/LedgerFeed.js';
import { decodeWith } from '../../client/exchange.js';
import { retryTransient } from '../../http/retry.js';
import type { ContractsSource } from '../ContractQuery.js';
import {
  type Answer,
  entriesOf,
  fixedPartOf,
  noLimit,
  otherSnapshot,
  readAnswers,
  retryAnswer,
  type Snapshot,
  snapshotFields,
  snapshotsOf,
} from './request.js';

/**
 * A part of a snapshot: its beginning, with which the parts of an earlier attempt must be dropped; some of its entries; or
 * its end, with its offset.
 */
export type SnapshotPart =
  | { readonly _tag: 'SnapshotStarted' }
  | { readonly _tag: 'SnapshotEntries'; readonly entries: readonly ContractEntry[] }
  | { readonly _tag: 'SnapshotCompleted'; readonly offset: Offset };

/**
 * Emits the ledger end; `undefined` if the participant does not serve it. Retries after a transient failure, and for a
 * while if the ledger end is before the offset that it must have reached.
 */
export const findOffset = (source: ContractsSource, notBefore = 0): Observable<Offset | undefined> =>
  ledgerEnd(source.client).pipe(
    tap((end) => {
      if (end < notBefore) throw new LedgerResetError(notBefore, end);
    }),
    catchError((error: unknown) => {
      if (!isUnavailable(error)) throw error;
      return [undefined];
    }),
    retryTransient(source),
  );

/**
 * Reads the snapshot at an offset with the first transport that the participant serves and that can send everything. At
 * 0 no contract is active: a page requested at 0 would be one at the ledger end.
 */
export const readAt = (snapshot: Snapshot): ObservableInput<SnapshotPart> =>
  snapshot.offset === 0
    ? [{ _tag: 'SnapshotStarted' }, { _tag: 'SnapshotCompleted', offset: 0 }]
    : readBy(snapshot, transportsOf(snapshot));

/** A way to read a snapshot. */
interface SnapshotTransport {
  readonly by: DiagnosticOf<'SnapshotStarted'>['by'];
  readonly read: () => Observable<SnapshotPart>;
}

/** Returns the ways to read a snapshot, best first. All except the first need its offset. */
function transportsOf(snapshot: Snapshot): readonly [SnapshotTransport, ...SnapshotTransport[]] {
  const { source, offset } = snapshot;
  const pages: SnapshotTransport = { by: 'pages', read: () => readPages(snapshot) };
  if (offset === undefined) return [pages];
  const at = { ...snapshot, offset };
  const { transport } = source;
  const lists: SnapshotTransport = { by: 'lists', read: () => readLists(at) };
  const others: SnapshotTransport[] = [{ by: 'lists', read: () => readLists(at, () => noLimit) }];
  if (transport !== undefined) others.unshift({ by: 'socket', read: () => readSocket(at, transport) });
  return snapshotsOf(source.client).hasPages ? [pages, lists, ...others] : [lists, ...others];
}

/**
 * Reads a snapshot with a transport, or with the next one if that does not serve it.
 *
 * @param failure - why the previous transports do not
 */
function readBy(
  snapshot: Snapshot,
  [{ by, read }, next, ...others]: readonly [SnapshotTransport, ...SnapshotTransport[]],
  failure?: LedgerError,
): Observable<SnapshotPart> {
  const { source, offset } = snapshot;
  return defer(() => {
    let hasEntries = false;
    source.report(() => ({ _tag: 'SnapshotStarted', by, ...(offset !== undefined && { offset }) }));
    const started: SnapshotPart = { _tag: 'SnapshotStarted' };
    return defer(() => [[started], read()]).pipe(
      concatAll(),
      tap({
        next: ({ _tag }) => {
          hasEntries = _tag === 'SnapshotEntries';
        },
        complete: () => {
          if (by !== 'pages') snapshotsOf(source.client).pagesMissing();
        },
      }),
      catchError((error: unknown) => {
        const isRefused = by === 'socket' && !hasEntries && isLedgerError(error) && isTransient(error);
        if (!isRefused && !isUnavailable(error) && !isLedgerError(error, 'SnapshotLimitError')) throw error;
        // a socket may succeed later, and the error of lists says more than that of pages
        const first = isRefused ? error : (failure ?? error);
        if (next === undefined) throw first;
        return readBy(snapshot, [next, ...others], by === 'pages' ? undefined : first);
      }),
    );
  });
}

const pagesPath = '/v2/state/active-contracts-page';

const decodePage = decodeWith(pagesPath, ActiveContractsPage);

/**
 * Reads a snapshot in pages, which participants serve since 3.5.10. The token of a page is only valid in a request that
 * is otherwise equal to the first; only the size of the page may differ.
 */
const readPages = (snapshot: Snapshot): Observable<SnapshotPart> => {
  const { source } = snapshot;
  return readAnswers(snapshot, (pageToken) => ({
    path: pagesPath,
    hasAlternative: snapshot.offset !== undefined,
    limitOf: () => Math.min(source.maxSnapshotPageSize, snapshotsOf(source.client).limit),
    call: (maxPageSize) => ({ body: { ...snapshotFields(snapshot), maxPageSize, pageToken } }),
    read: (json) => {
      const { activeContracts, activeAtOffset, nextPageToken } = decodePage(json);
      return { elements: activeContracts, offset: activeAtOffset, next: tokenIn(nextPageToken) };
    },
  })).pipe(concatMap(toParts));
};

/** The path of lists, for HTTP and for WebSockets. */
export const listPath = '/v2/state/active-contracts';

/** The maximum number of elements in a list, unless the participant is configured otherwise. */
const defaultMaxElements = 200;

const decodeList = decodeWith(listPath, list(ContractElement));

/** Returns the request for a list, from its beginning or after the element with the token. */
export const listBody = (
  snapshot: Pick<Snapshot, 'eventFormat' | 'offset'>,
  streamContinuationToken?: string,
): object => ({ ...snapshotFields(snapshot), streamContinuationToken });

/** Returns the token after an element. Participants before 3.5.1 send none. An empty token would be rejected. */
const tokenOf = (element: ContractElement | undefined): string | undefined => tokenIn(element?.streamContinuationToken);

/**
 * Reads a snapshot in lists, each of which continues after the last element of the previous one. Never sets an idle
 * timeout, which would make a slow list look like a short one. If the participant sends no token, the list may be
 * incomplete without any sign of it: that is a `SnapshotLimitError`.
 *
 * @param limitOf - the maximum number of elements in a list
 */
const readLists = (
  snapshot: Snapshot<Offset>,
  limitOf = (): number => {
    const { client, maxSnapshotPageSize } = snapshot.source;
    return Math.min(maxSnapshotPageSize, defaultMaxElements, snapshotsOf(client).limit);
  },
): Observable<SnapshotPart> => {
  const { offset } = snapshot;
  return readAnswers(snapshot, (token) => ({
    path: listPath,
    limitOf,
    call: (limit) => ({ query: { limit }, body: listBody(snapshot, token) }),
    read: (json, limit) => {
      const elements = decodeList(json);
      const isFull = elements.length >= limit;
      const next = isFull ? tokenOf(elements.at(-1)) : undefined;
      if (isFull && next === undefined) throw new SnapshotLimitError(elements.length, offset);
      return { elements, offset, next };
    },
  })).pipe(concatMap(toParts));
};

const decodeElement = decodeWith(listPath, ContractElement);

/**
 * Reads a snapshot from a WebSocket, which has no limit. The transport completes only if the participant has sent all
 * elements.
 *
 * If the socket is cut, the next one begins with the last element again: another ledger, which may accept the token, does
 * not have it. That requires a token, which participants before 3.5 do not send and which does not exist before the first
 * element. Without a token the error is passed on, and the caller begins again.
 */
const readSocket = (snapshot: Snapshot<Offset>, { readList }: Transport): Observable<SnapshotPart> =>
  defer(() => {
    const { source, offset } = snapshot;
    let last: { readonly after?: string | undefined; readonly element: ContractElement } | undefined;
    const entries$ = defer(() => {
      let expected = last;
      const elements$ = readList(source.client, listPath, listBody(snapshot, expected?.after));
      return elements$.pipe(
        tap({
          complete: () => {
            if (expected !== undefined) throw isOther(offset);
          },
        }),
        map((json): SnapshotPart => {
          const element = decodeElement(json);
          const isRepeated = expected !== undefined;
          if (expected !== undefined && fixedPartOf(element) !== fixedPartOf(expected.element)) throw isOther(offset);
          expected = undefined;
          if (!isRepeated) last = { after: tokenOf(last?.element), element };
          return { _tag: 'SnapshotEntries', entries: isRepeated ? [] : entriesOf([element]) };
        }),
      );
    }).pipe(retryAnswer(snapshot, () => tokenOf(last?.element) !== undefined));
    const completed: SnapshotPart = { _tag: 'SnapshotCompleted', offset };
    return defer(() => [entries$, [completed]]).pipe(concatAll());
  });

const isOther = (offset: Offset): LedgerResetError => new LedgerResetError(offset, undefined, otherSnapshot);

/** Returns a token, or `undefined` for an empty one, which stands for none. */
const tokenIn = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** Returns the parts of a response: its entries, and the end of the snapshot if it is the last response. */
const toParts = ({ elements, offset, next }: Answer): readonly SnapshotPart[] => {
  const part: SnapshotPart = { _tag: 'SnapshotEntries', entries: entriesOf(elements) };
  return next === undefined ? [part, { _tag: 'SnapshotCompleted', offset }] : [part];
};
