import {
  catchError,
  concatMap,
  defer,
  expand,
  filter,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  queueScheduler,
  subscribeOn,
  tap,
  throwError,
} from 'rxjs';
import type { PageReceived } from '../diagnostics/FeedDiagnostic.js';
import type { FeedEntry, FeedPage } from '../process/Feed.js';
import type { Work } from '../process/ProcessOptions.js';
import type { MessageSource } from './messageSource.js';
import { type NatsPosition, toEntry } from './NatsPosition.js';
import { callServerOnce, type NatsStream, readHead, retryServer } from './NatsStream.js';
import { type Batch, type Delivery, pull } from './pull.js';
import { gapError } from './RelayError.js';

/** How to read pages of a stream. */
interface PageSettings {
  readonly stream: NatsStream;
  readonly source: MessageSource;
  readonly maxPageSize: number;
  /** Whether an update that cannot be decoded is an entry. */
  readonly emitInvalid: boolean;
  /**
   * Called with the offset of each update and the subject that acknowledges its message; absent if messages are not
   * acknowledged.
   */
  readonly onDelivery: ((offset: number, reply: string) => void) | undefined;
}

type Entry = FeedEntry<Work, NatsPosition>;

/** How far a stream has been read. */
interface Step {
  /** The position of the last message. */
  readonly position: NatsPosition;
  /** The consumer that delivers the next message; `undefined` if one must be opened. */
  readonly consumer: string | undefined;
  /** Whether the stream had no more messages. */
  readonly isCaughtUp: boolean;
  /** Whether the stream was read to its end, and at most one page at a time has been added since. */
  readonly isFollowing: boolean;
  /** Whether the next message is requested by itself, because it exceeds the size limit of a request for several. */
  readonly isLarge: boolean;
  /** The page of this step; absent if there was nothing new. */
  readonly page?: FeedPage<Work, NatsPosition> | undefined;
  /** The sequence number of the next delivered message, if messages before it are missing. */
  readonly hole?: number | undefined;
  /** The error that follows the page. */
  readonly failure?: { readonly error: unknown } | undefined;
}

/**
 * Emits the pages after a position. Sends a request when `ready$` emits; it waits on the server until there is a
 * message. Each message must follow its predecessor: after a hole the source is opened again, unless the stream itself
 * has a gap there.
 */
export const pages = (
  settings: PageSettings,
  after: NatsPosition,
  ready$: Observable<unknown>,
): Observable<FeedPage<Work, NatsPosition>> =>
  defer(() => {
    const flags = { isCaughtUp: false, isFollowing: false, isLarge: false };
    const start: Step = { position: after, consumer: undefined, ...flags };
    return of(start).pipe(
      expand((step) => {
        if (step.failure !== undefined) return throwError(() => step.failure?.error);
        const isReady$ = step === start || step.page !== undefined ? ready$ : of(true);
        // queued: synchronous pages would nest
        return isReady$.pipe(
          concatMap(() => nextStep(settings, step)),
          subscribeOn(queueScheduler),
        );
      }),
      map(({ page }) => page),
      filter((page) => page !== undefined),
      reportStart(settings, after),
    );
  });

/**
 * How long a request waits for a message, in milliseconds. A request that is lost with its server is noticed after this
 * time.
 */
const waitMs = 5_000;

const nextStep = (settings: PageSettings, step: Step): Observable<Step> => {
  const { source, stream, maxPageSize } = settings;
  const { consumer, position } = step;
  if (step.hole !== undefined) return fillHole(stream, step, step.hole);
  if (consumer === undefined)
    return source.open(position).pipe(map((name) => ({ ...withoutPage(step), consumer: name })));
  const request = { consumer, maxMessages: step.isLarge ? 1 : maxPageSize, waitMs: step.isCaughtUp ? waitMs : 0 };
  return callServerOnce(stream, () =>
    pull(stream, request).pipe(
      catchError((error: unknown) =>
        source.hasConsumer(consumer).pipe(
          map((exists) => {
            if (exists) throw error;
            return undefined;
          }),
        ),
      ),
    ),
  ).pipe(
    retryServer(stream),
    map((batch) => (batch === undefined ? { ...withoutPage(step), consumer: undefined } : read(settings, step, batch))),
    reportStep(settings, step),
  );
};

const withoutPage = (step: Step): Step => ({ ...step, page: undefined });

/** Opens the source again if messages were lost in transit. Fails if the stream does not have the messages. */
const fillHole = (stream: NatsStream, step: Step, before: number): Observable<Step> => {
  const missing = step.position.sequence + 1;
  return readHead(stream, { seq: missing }).pipe(
    map((head) => {
      if (head === undefined) throw gapError(stream.stream, missing, before);
      return { ...withoutPage(step), consumer: undefined, hole: undefined };
    }),
  );
};

/** Returns the step after the messages of a request. */
function read(settings: PageSettings, step: Step, { deliveries, isEnd, isTooLarge }: Batch): Step {
  const { entries, failure, hole } = readEntries(settings, step.position, deliveries);
  const position = entries.at(-1)?.position ?? step.position;
  const isCaughtUp = hole === undefined && isEnd;
  const isNews = entries.length > 0 || (isCaughtUp && !step.isCaughtUp);
  return {
    position,
    consumer: step.consumer,
    isCaughtUp,
    isFollowing: isCaughtUp || (step.isFollowing && deliveries.length < settings.maxPageSize),
    isLarge: isTooLarge,
    page: isNews ? { entries, reached: position, isCaughtUp } : undefined,
    hole,
    failure,
  };
}

/** The entries of a request, up to the first failure or hole. */
interface Entries {
  readonly entries: readonly Entry[];
  readonly failure?: { readonly error: unknown };
  /** The sequence number of the message after the hole. */
  readonly hole?: number;
}

/** Decodes the messages that directly follow a position, and skips those before it. */
function readEntries(
  { stream, emitInvalid, onDelivery }: PageSettings,
  after: NatsPosition,
  deliveries: readonly Delivery[],
): Entries {
  const entries: Entry[] = [];
  let last = after;
  for (const delivery of deliveries) {
    if (delivery.sequence <= last.sequence) continue;
    if (delivery.sequence > last.sequence + 1) return { entries, hole: delivery.sequence };
    try {
      const entry = toEntry(stream.stream, delivery, last, emitInvalid);
      entries.push(entry);
      last = entry.position;
      onDelivery?.(last.offset, delivery.reply);
    } catch (error) {
      return { entries, failure: { error } };
    }
  }
  return { entries };
}

/** Reports the messages of a step. */
const reportStep =
  ({ stream: { stream, retrying } }: PageSettings, previous: Step): MonoTypeOperatorFunction<Step> =>
  (source) =>
    defer(() => {
      const startedAt = performance.now();
      const { report } = retrying;
      return source.pipe(
        tap(({ page, position: { offset: cursor }, isFollowing }) => {
          if (page !== undefined) report(() => pageReceived(stream, page, performance.now() - startedAt));
          if (isFollowing && !previous.isFollowing) report(() => ({ _tag: 'CaughtUp', cursor }));
          if (!isFollowing && previous.isFollowing) report(() => ({ _tag: 'FellBehind', cursor }));
        }),
      );
    });

const pageReceived = (path: string, { entries }: FeedPage<Work, NatsPosition>, durationMs: number): PageReceived => {
  const [first, last] = [entries[0], entries.at(-1)];
  return {
    _tag: 'PageReceived',
    path,
    count: entries.length,
    ...(first !== undefined && { first: first.position.offset }),
    ...(last !== undefined && { last: last.position.offset }),
    durationMs: Math.round(durationMs),
  };
};

/** Reports the start of the feed. The processor reports the end. */
const reportStart =
  <A>({ stream: { retrying } }: PageSettings, { offset: beginExclusive }: NatsPosition): MonoTypeOperatorFunction<A> =>
  (source) => {
    const { report } = retrying;
    return source.pipe(
      tap<A>({
        subscribe: () => {
          report(() => ({ _tag: 'FeedStarted', beginExclusive }));
        },
      }),
    );
  };
