import { concat, defer, EMPTY, NEVER, Observable, takeUntil, takeWhile, tap } from 'rxjs';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { quietly } from '../errors/quietly.js';
import { monotonicNow } from '../http/clock.js';
import { type HttpRequest, presentHeaders } from '../http/HttpPort.js';
import type { Client } from './Client.js';
import type {
  AnswerSummary,
  FeedCall,
  FeedProgress,
  HandlerCall,
  Interception,
  Interceptor,
  OperationInterception,
  Outcome,
  ReadCall,
  RequestCall,
  RequestOutcome,
  SocketCall,
  SubmissionCall,
  SubmissionOutcome,
} from './Interceptor.js';
import { addedTo } from './Scope.js';

/**
 * Reads a feed, or runs a processor.
 *
 * @param read - gets the client whose requests belong to the feed
 * @param progressOf - returns what interceptors see of a value. Default: they see none
 */
export const interceptFeed = <A>(
  client: Client,
  call: FeedCall,
  read: (client: Client) => Observable<A>,
  progressOf?: (value: A) => FeedProgress,
): Observable<A> =>
  operation(
    client,
    (interceptor) => interceptor.feed?.(call),
    read,
    (inner$, added) => {
      const count = (value: A): void => quietly(() => progressOf && added.next?.(progressOf(value)));
      const counted$ = added.next === undefined ? inner$ : inner$.pipe(tap(count));
      return around(counted$, added, { isSingle: false });
    },
  );

/** Submits. */
export const interceptSubmission = (
  client: Client,
  call: () => SubmissionCall,
  submit: (client: Client) => Observable<SubmittedTransaction>,
): Observable<SubmittedTransaction> =>
  operation(
    client,
    (interceptor) => interceptor.submission?.(call()),
    submit,
    (inner$, added) => around(inner$, added, { outcomeOf: submissionOutcome }),
  );

const submissionOutcome = (outcome: Outcome, transaction?: SubmittedTransaction): SubmissionOutcome => {
  if (transaction === undefined) return outcome;
  const { updateId, offset, traceContext } = transaction;
  return { ...outcome, transaction: { updateId, offset, traceContext } };
};

/** Calls another method of a ledger. */
export const interceptRead = <A>(
  client: Client,
  method: ReadCall['method'],
  read: (client: Client) => Observable<A>,
): Observable<A> =>
  operation(
    client,
    (interceptor) => interceptor.read?.({ method }),
    read,
    (inner$, added) => around(inner$, added),
  );

/** Calls the interceptors for an operation, at each subscription. The first one is the outermost. */
const operation = <A, I extends OperationInterception<never>>(
  client: Client,
  ask: (interceptor: Interceptor) => I | undefined,
  run: (client: Client) => Observable<A>,
  add: (inner$: Observable<A>, added: I) => Observable<A>,
): Observable<A> =>
  client.scopes.length === 0
    ? run(client)
    : defer(() => {
        const scopes = client.scopes.map(({ interceptor }) => ({
          interceptor,
          added: quietly(() => ask(interceptor)),
        }));
        return scopes.reduceRight(
          (inner$, { added }) => (added === undefined ? inner$ : endedBy(add(inner$, added), added.until$)),
          run(client.within(scopes)),
        );
      });

/** Sends a request. `send` gets the headers to add, and a function to call with the status of the response. */
export const interceptRequest = <A>(
  client: Client,
  call: RequestCall,
  send: (headers: HttpRequest['headers'], onStatus: (status: number) => void) => Observable<A>,
  summarize: (result: A) => AnswerSummary & { readonly failure?: unknown },
): Observable<A> =>
  defer(() => {
    const sentAt = monotonicNow();
    let answer: { readonly status: number; readonly durationMs: number } | undefined;
    const onStatus = (status: number): void => {
      answer = { status, durationMs: monotonicNow() - sentAt };
    };
    const outcomeOf = ({ how, error }: Outcome, result?: A): RequestOutcome => {
      const { failure = error, ...summary } = result === undefined ? {} : summarize(result);
      const took = answer ?? { durationMs: monotonicNow() - sentAt };
      return { how: failure === undefined ? how : 'failed', error: failure, ...summary, ...took };
    };
    const all = addedTo(client.scopes, 'request', (parts) => parts.request?.(call));
    return all.reduceRight((inner$, added) => around(inner$, added, { outcomeOf }), send(headersIn(all), onStatus));
  });

/** Opens a socket. `open` gets the headers to add. */
export const interceptSocket = <A>(
  client: Client,
  call: SocketCall,
  open: (headers: HttpRequest['headers']) => Observable<A>,
  errorOf: (error: unknown) => unknown,
): Observable<A> =>
  defer(() => {
    // a socket that completes before it is open has failed
    const outcomeOf = ({ how, error }: Outcome): Outcome =>
      how === 'failed' || how === 'completed' ? { how: 'failed', error: errorOf(error) } : { how };
    const all = addedTo(client.scopes, 'socket', (parts) => parts.socket?.(call));
    return all.reduceRight((inner$, added) => around(inner$, added, { outcomeOf }), open(headersIn(all)));
  });

/** Returns what is added to a call of a handler. */
export const addedToHandler = (client: Client, call: () => HandlerCall): readonly Interception[] =>
  client.scopes.length === 0 ? [] : addedTo(client.scopes, 'handler', (parts) => parts.handler?.(call()));

/** Returns the valid headers. Of headers with the same name, the last one. */
const headersIn = (all: readonly { readonly headers?: HttpRequest['headers'] | undefined }[]): HttpRequest['headers'] =>
  Object.assign({}, ...all.map(({ headers }) => quietly(() => presentHeaders(headers)))) as HttpRequest['headers'];

/** How to report the outcome to an interceptor. */
interface Telling<A, O extends Outcome> {
  /** Whether the first result is the outcome. */
  readonly isSingle?: boolean;
  /** Default: the outcome as it is. */
  readonly outcomeOf?: (outcome: Outcome, result?: A) => O;
}

/**
 * Subscribes to the source, and unsubscribes from it, in the context of an interception; emits in its other context; and reports
 * the outcome to it. Whatever the interception does, the subscriber receives what the source emits.
 */
export const around = <A, O extends Outcome = Outcome>(
  source: Observable<A>,
  added: Interception<O>,
  { isSingle = true, outcomeOf = (outcome) => outcome as O }: Telling<A, O> = {},
): Observable<A> =>
  new Observable((subscriber) => {
    let hasEnded = false;
    const end = (outcome: Outcome, result?: A): void => {
      if (!hasEnded) quietly(() => added.end?.(outcomeOf(outcome, result)));
      hasEnded = true;
    };
    const deliver = (work: () => void): void => {
      inContext(added, 'emit', work);
    };
    const whileSubscribed$ = source.pipe(
      // within the first subscription, there is nothing to unsubscribe from yet
      takeWhile((value) => {
        if (isSingle) end({ how: 'succeeded' }, value);
        deliver(() => {
          subscriber.next(value);
        });
        return !subscriber.closed;
      }),
    );
    subscriber.add(() => {
      end({ how: 'unsubscribed' });
    });
    // a subscriber would unsubscribe from the source itself, in its own context
    const subscription = inContext(added, 'run', () =>
      whileSubscribed$.subscribe({
        error: (error: unknown) => {
          end({ how: 'failed', error });
          deliver(() => {
            subscriber.error(error);
          });
        },
        complete: () => {
          end({ how: 'completed' });
          deliver(() => {
            subscriber.complete();
          });
        },
      }),
    );
    subscriber.add(() => {
      inContext(added, 'run', () => {
        subscription.unsubscribe();
      });
    });
  });

/** Calls `work` in a context of an interception: once, whatever that does. Returns its result, and throws what it throws. */
export function inContext<O, R>(added: Interception<O>, context: 'run' | 'emit', work: () => R): R {
  if (added[context] === undefined) return work();
  let result: { readonly value: R } | { readonly error: unknown } | undefined;
  const once = (): void => {
    if (result !== undefined) return;
    try {
      result = { value: work() };
    } catch (error) {
      result = { error };
    }
  };
  quietly(() => added[context]?.(once));
  once();
  const done = result as unknown as { readonly value: R } | { readonly error: unknown };
  if ('error' in done) throw done.error;
  return done.value;
}

/** Emits what the source emits until the end. Does not complete then. */
const endedBy = <A>(source: Observable<A>, until$: Observable<unknown> | undefined): Observable<A> =>
  defer(() => {
    if (until$ === undefined) return source;
    let hasEnded = false;
    const end$ = until$.pipe(
      tap(() => {
        hasEnded = true;
      }),
    );
    return concat(
      source.pipe(takeUntil(end$)),
      defer(() => (hasEnded ? NEVER : EMPTY)),
    );
  });
