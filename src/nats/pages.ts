import type { Msg } from '@nats-io/nats-core';
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
import type { DiagnosticOf } from '../diagnostics/Diagnostic.js';
import type { Batch } from '../history/positions.js';
import type { FeedEntry } from '../process/Feed.js';
import type { Work } from '../process/ProcessOptions.js';
import { openConsumer, pull, type Pulled, readLastSent } from './NatsStream.js';
import { type Delivery, type NatsPosition, toEntry } from './NatsPosition.js';
import { callServerOnce, type NatsStream, readHead, retryServer } from './NatsStream.js';
import { gapError } from './RelayError.js';
import { idHeader } from './relayStream.js';

/** The settings for reading pages of a stream. */
interface PageSettings {
  readonly stream: NatsStream;
  readonly maxPageSize: number;
  /** Whether an update that cannot be decoded is an entry. */
  readonly emitUndecoded: boolean;
}

type Entry = FeedEntry<Work, NatsPosition>;

type NatsBatch = Batch<Entry, NatsPosition>;

/** The progress of reading a stream. */
interface Step {
  /** The position of the last message. */
  readonly position: NatsPosition;
  /** The ID of that message; `undefined` at the start. */
  readonly id: string | undefined;
  /** The consumer that delivers the next message; `undefined` if one must be opened. */
  readonly consumer: string | undefined;
  /** Whether the stream had no more messages. */
  readonly isCaughtUp: boolean;
  /** Whether the stream was read to its end, and at most one page at a time has been added since. */
  readonly isFollowing: boolean;
  /** Whether the next message is requested by itself, because it exceeds the size limit of a request for several. */
  readonly isLarge: boolean;
  /** The page of this step; absent if there was nothing new. */
  readonly page?: NatsBatch | undefined;
  /** The sequence number of the next delivered message, if messages before it are missing. */
  readonly hole?: number | undefined;
  /** The error that follows the page. */
  readonly failure?: { readonly error: unknown } | undefined;
}

/**
 * Emits the pages after a position. Sends a request when `ready$` emits; it waits on the server until there is a
 * message. Each message must follow its predecessor: after a hole another consumer is opened, unless the stream itself
 * has a gap there.
 */
export const pages = (
  settings: PageSettings,
  after: NatsPosition,
  ready$: Observable<unknown>,
): Observable<NatsBatch> =>
  defer(() => {
    const flags = { isCaughtUp: false, isFollowing: false, isLarge: false };
    const start: Step = { position: after, id: undefined, consumer: undefined, ...flags };
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
 * The time that a request waits for a message, in milliseconds. A request that is lost with its server is noticed after this
 * time.
 */
const waitMs = 5_000;

const nextStep = (settings: PageSettings, step: Step): Observable<Step> => {
  const { stream, maxPageSize } = settings;
  const { consumer, position, id } = step;
  if (step.hole !== undefined) return fillHole(stream, step, step.hole);
  if (consumer === undefined)
    return openConsumer(stream, position, id).pipe(map((opened) => ({ ...withoutPage(step), ...opened })));
  const request = { consumer, maxMessages: step.isLarge ? 1 : maxPageSize, waitMs: step.isCaughtUp ? waitMs : 0 };
  return callServerOnce(stream, () =>
    pull(stream, request).pipe(
      catchError((error: unknown) => of({ error })),
      concatMap((pulled) => {
        if ('deliveries' in pulled && pulled.deliveries.length > 0) return of(read(settings, step, pulled));
        // a consumer does not send again what was lost with a connection
        return readLastSent(stream, consumer).pipe(
          map((sent) => {
            if (sent === undefined) return { ...withoutPage(step), consumer: undefined };
            if (sent > position.sequence) return { ...withoutPage(step), isCaughtUp: false, hole: sent + 1 };
            if ('error' in pulled) throw pulled.error;
            return read(settings, step, pulled);
          }),
        );
      }),
    ),
  ).pipe(retryServer(stream), reportStep(settings, step));
};

const withoutPage = (step: Step): Step => ({ ...step, page: undefined });

/** Opens another consumer if messages were lost in transit. Fails if the stream does not have the messages. */
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
function read(settings: PageSettings, step: Step, { deliveries, isEnd, isTooLarge }: Pulled): Step {
  const { entries, id = step.id, failure, hole } = readEntries(settings, step.position, deliveries);
  const position = entries.at(-1)?.position ?? step.position;
  const isCaughtUp = hole === undefined && isEnd;
  const isNews = entries.length > 0 || (isCaughtUp && !step.isCaughtUp);
  return {
    position,
    id,
    consumer: step.consumer,
    isCaughtUp,
    isFollowing: isCaughtUp || (step.isFollowing && deliveries.length < settings.maxPageSize),
    isLarge: isTooLarge,
    page: isNews ? { items: entries, position, isCaughtUp } : undefined,
    hole,
    failure,
  };
}

/** The entries of a request, up to the first failure or hole. */
interface Entries {
  readonly entries: readonly Entry[];
  /** The ID of the last message; absent if there is none. */
  readonly id?: string | undefined;
  readonly failure?: { readonly error: unknown };
  /** The sequence number of the message after the hole. */
  readonly hole?: number;
}

/** Decodes the messages that directly follow a position, and skips those before it. */
function readEntries(
  { stream, emitUndecoded }: PageSettings,
  after: NatsPosition,
  deliveries: readonly Delivery[],
): Entries {
  const entries: Entry[] = [];
  let last = after;
  let lastMessage: Msg | undefined;
  const read = (): Entries => ({ entries, id: lastMessage?.headers?.get(idHeader) });
  for (const delivery of deliveries) {
    if (delivery.sequence <= last.sequence) continue;
    if (delivery.sequence > last.sequence + 1) return { ...read(), hole: delivery.sequence };
    try {
      const entry = toEntry(stream.stream, delivery, last, emitUndecoded);
      entries.push(entry);
      last = entry.position;
      lastMessage = delivery.message;
    } catch (error) {
      return { ...read(), failure: { error } };
    }
  }
  return read();
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

const pageReceived = (path: string, { items }: NatsBatch, durationMs: number): DiagnosticOf<'PageReceived'> => {
  const [first, last] = [items[0], items.at(-1)];
  return {
    _tag: 'PageReceived',
    path,
    count: items.length,
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
