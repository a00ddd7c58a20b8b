import { type DestroyRef, NgZone } from '@angular/core';
import {
  concatMap,
  dematerialize,
  isObservable,
  materialize,
  type MonoTypeOperatorFunction,
  NEVER,
  noop,
  Observable,
  Subscription,
  takeWhile,
  timer,
  using,
} from 'rxjs';
import { nameOf } from '../errors/internal/message.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { clampTimer, mapError } from '../http/retry.js';
import {
  type AnyHandler,
  connectionOf,
  type ProcessorProgress,
  type ProcessorRun,
  withConnection,
} from '../ledger/connection.js';
import type { Ledger } from '../ledger/Ledger.js';

/** The environment in which a ledger is provided. */
interface LedgerEnvironment {
  readonly zone: NgZone;
  /** The `DestroyRef` of the injector that provides the ledger. */
  readonly destroyRef: DestroyRef;
  /** Whether the application is rendered on a server. */
  readonly isServer: boolean;
  /** Whether feeds emit at all. */
  readonly hasFeeds: boolean;
  /** Angular's pending tasks, if they were given. */
  readonly pendingTasks: PendingTaskList | undefined;
}

/**
 * The part of Angular's `PendingTasks` that the library uses. Early versions of Angular lack it.
 *
 * @category Angular
 */
export interface PendingTaskList {
  /** Begins a task, and returns the function that ends it. */
  add(): () => void;
}

/** The injectors of ledgers, by their function `updates`, which copies of a ledger share. */
const destroyRefs = new WeakMap<object, DestroyRef>();

/**
 * Returns a ledger whose feeds run outside Angular's zone and emit within it, because an application that waits for a
 * feed without an end is never stable. Feeds end with the injector: on a server they would otherwise continue after the
 * page was sent. Single requests keep the application unstable until they are answered, so that a page is rendered with
 * the response.
 *
 * @internal
 */
export function ledgerInZone(ledger: Ledger, environment: LedgerEnvironment): Ledger {
  const { zone, destroyRef, isServer, hasFeeds, pendingTasks } = environment;
  const throughZone = <A>(source: Observable<A>): Observable<A> => {
    const result$ = source.pipe(outsideZone(zone), insideZone(zone));
    return isServer ? result$.pipe(mapError(withoutHost)) : result$;
  };
  const feed = <A>(source: Observable<A>): Observable<A> =>
    hasFeeds ? throughZone(source).pipe(untilDestroyed(destroyRef)) : NEVER;
  // Node's fetch has one timer for all connections: in the zone, the connections of feeds would keep it pending
  const singleRequest = <A>(source: Observable<A>): Observable<A> =>
    isServer ? throughZone(source).pipe(trackPendingTask(zone, pendingTasks)) : source;
  // `Parameters` has the types of the last overload only, and the arguments are passed on unchanged
  const updates = (...args: Parameters<Ledger['updates']>) => feed(ledger.updates(...args));
  const inZone: Ledger = {
    ...ledger,
    updates: updates as Ledger['updates'],
    completions: (...args) => feed(ledger.completions(...args)),
    executeAndWaitForTransaction: (...args) => singleRequest(ledger.executeAndWaitForTransaction(...args)),
    submitAndWaitForTransaction: (...args) => singleRequest(ledger.submitAndWaitForTransaction(...args)),
    prepare: (...args) => singleRequest(ledger.prepare(...args)),
    submit: (...args) => singleRequest(ledger.submit(...args)),
    ledgerEnd: () => singleRequest(ledger.ledgerEnd()),
    offsetAt: (...args) => singleRequest(ledger.offsetAt(...args)),
    parties: () => singleRequest(ledger.parties()),
    diagnostics$: ledger.diagnostics$.pipe(insideZone(zone)),
  };
  destroyRefs.set(updates, destroyRef);
  const connection = connectionOf(ledger);
  // the ledger of a test has none
  if (connection === undefined) return inZone;
  const { service, runProcessor } = connection;
  const runInZone = <C extends ProcessorProgress>(processor: ProcessorRun<C>): Observable<C> =>
    runProcessor === undefined ? processor.run(service, processor.handler) : runProcessor(processor);
  return withConnection(inZone, {
    ...connection,
    runProcessor: (run) => feed(runInZone({ ...run, handler: handlerInZone(zone, run.handler) })),
  });
}

/**
 * Subscribes and unsubscribes outside Angular's zone: the timers and requests of the source then neither trigger change
 * detection nor keep the application unstable.
 *
 * @internal
 */
export const outsideZone =
  <A>(zone: NgZone): MonoTypeOperatorFunction<A> =>
  (source) =>
    new Observable((subscriber) => {
      const whileSubscribed$ = source.pipe(
        // within the first subscription, there is nothing to unsubscribe from yet
        takeWhile((value) => {
          subscriber.next(value);
          return !subscriber.closed;
        }),
      );
      // a subscriber would unsubscribe from the source itself, within the zone
      const subscription = zone.runOutsideAngular(() =>
        whileSubscribed$.subscribe({
          error: (error: unknown) => {
            subscriber.error(error);
          },
          complete: () => {
            subscriber.complete();
          },
        }),
      );
      return () => {
        zone.runOutsideAngular(() => {
          subscription.unsubscribe();
        });
      };
    });

/**
 * Emits within Angular's zone, wherever the source emits.
 *
 * @internal
 */
export const insideZone =
  <A>(zone: NgZone): MonoTypeOperatorFunction<A> =>
  (source) =>
    source.pipe(
      materialize(),
      concatMap((notification) => emitInZone(zone, notification)),
      dematerialize(),
    );

const emitInZone = <A>(zone: NgZone, value: A): Observable<A> =>
  new Observable((subscriber) => {
    zone.run(() => {
      // a zone with a pending microtask renders after it, not on each exit: a page of updates is rendered once
      if (NgZone.isInAngularZone()) queueMicrotask(noop);
      subscriber.next(value);
      subscriber.complete();
    });
  });

/**
 * Unsubscribes from the source when an injector is destroyed. It does not complete then, because a subscriber that
 * waits for the end of a feed would treat an incomplete feed as complete. Subscribing after that errors with Angular's
 * NG0205.
 */
const untilDestroyed =
  <A>(destroyRef: DestroyRef): MonoTypeOperatorFunction<A> =>
  (source) =>
    new Observable((subscriber) => {
      const unregister = destroyRef.onDestroy(() => {
        subscriber.unsubscribe();
      });
      subscriber.add(unregister);
      return source.subscribe(subscriber);
    });

/**
 * Returns the `DestroyRef` of the injector that provides a ledger, if one does.
 *
 * @internal
 */
export const destroyRefOf = ({ updates }: { readonly updates: object }): DestroyRef | undefined =>
  destroyRefs.get(updates);

/**
 * Keeps the application unstable until the source ends, although the source runs outside the zone: with a timer of the
 * zone, and with Angular's pending tasks if they were given.
 *
 * @internal
 */
export const trackPendingTask =
  <A>(zone: NgZone, pendingTasks: PendingTaskList | undefined): MonoTypeOperatorFunction<A> =>
  (source) =>
    using(
      () => {
        const task = new Subscription(pendingTasks?.add());
        task.add(zone.run(() => timer(clampTimer(Infinity)).subscribe()));
        return task;
      },
      () => source,
    );

/**
 * Removes the address of the ledger from the message of an error, which a rendered page may show.
 *
 * @internal
 */
export function withoutHost(error: unknown): unknown {
  if (!isLedgerError(error) || !('host' in error) || error.host === undefined) return error;
  return Object.assign(error, { message: error.message.replaceAll(error.host, nameOf()), host: undefined });
}

/** Returns a handler that runs within Angular's zone, as does the Observable that it returns. */
const handlerInZone =
  (zone: NgZone, handler: AnyHandler): AnyHandler =>
  (work, tx, report) => {
    const result = zone.run(() => handler(work, tx, report));
    if (!isObservable(result)) return result;
    return new Observable((subscriber) => zone.run(() => result.subscribe(subscriber)));
  };
