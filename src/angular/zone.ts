import { type DestroyRef, NgZone } from '@angular/core';
import {
  concatMap,
  dematerialize,
  isObservable,
  materialize,
  type MonoTypeOperatorFunction,
  NEVER,
  Observable,
  timer,
  using,
} from 'rxjs';
import type { Ledger } from '../ledger/Ledger.js';

/** Subscribes outside Angular's zone: what the source schedules neither renders nor keeps the application unstable. */
export const outsideZone =
  <A>(zone: NgZone): MonoTypeOperatorFunction<A> =>
  (source) =>
    new Observable((subscriber) => zone.runOutsideAngular(() => source.subscribe(subscriber)));

/** Where a ledger is used. */
interface Surroundings {
  readonly zone: NgZone;
  /** Of the injector that provides it. */
  readonly destroyRef: DestroyRef;
  /** Whether pages are rendered here, for somebody elsewhere. */
  readonly isServer: boolean;
  /** Whether feeds are read at all. */
  readonly hasFeeds: boolean;
}

/**
 * A ledger whose feeds run outside Angular's zone and emit within it: they have no end, and an application that waits for
 * them is never stable. Nor do they outlive the injector: on a server they would go on when the page was sent long ago.
 * What answers once is waited for, so that a page is rendered with the answer.
 */
export function ledgerInZone(ledger: Ledger, { zone, destroyRef, isServer, hasFeeds }: Surroundings): Ledger {
  const around = <A>(source: Observable<A>): Observable<A> => source.pipe(outsideZone(zone), insideZone(zone));
  const feed = <A>(source: Observable<A>): Observable<A> =>
    hasFeeds ? around(source).pipe(untilDestroyed(destroyRef)) : NEVER;
  // the fetch of Node.js has one timer for all its connections: in the zone, feeds would keep it going there
  const once = <A>(source: Observable<A>): Observable<A> =>
    isServer ? around(source).pipe(trackPendingTask()) : source;
  // the types are those of the last overload; what is given and returned is handed on as it is
  const updates = (...asked: Parameters<Ledger['updates']>) => feed(ledger.updates(...asked));
  const process = (...[request, handler, options]: Parameters<Ledger['process']>) =>
    feed(ledger.process(request, handlingInside(zone, handler), options));
  return {
    ...ledger,
    updates: updates as Ledger['updates'],
    process: process as Ledger['process'],
    executeAndWaitForTransaction: (...asked) => once(ledger.executeAndWaitForTransaction(...asked)),
    prepare: (...asked) => once(ledger.prepare(...asked)),
    submit: (...asked) => once(ledger.submit(...asked)),
    ledgerEnd: () => once(ledger.ledgerEnd()),
    diagnostics$: ledger.diagnostics$.pipe(insideZone(zone)),
  };
}

/** Emits within Angular's zone, wherever the source emits. */
const insideZone =
  <A>(zone: NgZone): MonoTypeOperatorFunction<A> =>
  (source) =>
    source.pipe(
      materialize(),
      concatMap((told) => entering(zone, told)),
      dematerialize(),
    );

const entering = <A>(zone: NgZone, value: A): Observable<A> =>
  new Observable((subscriber) => {
    zone.run(() => {
      // what comes at once is rendered at once: a zone with a microtask to do renders behind it, and not on each leave
      if (NgZone.isInAngularZone()) queueMicrotask(nothing);
      subscriber.next(value);
      subscriber.complete();
    });
  });

const nothing = (): void => undefined;

/**
 * Unsubscribes from the source when an injector is destroyed. It does not complete then: whoever waits for the end of a feed
 * would take a part of it for all of it. Subscribed later, it errors with Angular's NG0205.
 */
const untilDestroyed =
  <A>(destroyRef: DestroyRef): MonoTypeOperatorFunction<A> =>
  (source) =>
    new Observable((subscriber) => {
      const forget = destroyRef.onDestroy(() => {
        subscriber.unsubscribe();
      });
      subscriber.add(forget);
      return source.subscribe(subscriber);
    });

/** The longest that a timer of the platform takes. */
const longestMs = 2 ** 31 - 1;

/** A task of the zone in which it is subscribed, for as long as the source takes: it may itself run elsewhere. */
const trackPendingTask =
  <A>(): MonoTypeOperatorFunction<A> =>
  (source) =>
    using(
      () => timer(longestMs).subscribe(),
      () => source,
    );

/** A handler that works within Angular's zone, also with the Observable that it returns. */
const handlingInside =
  <Work, Tx>(zone: NgZone, handle: (work: Work, tx: Tx) => unknown) =>
  (work: Work, tx: Tx): unknown => {
    const result = zone.run(() => handle(work, tx));
    if (!isObservable(result)) return result;
    return new Observable((subscriber) => zone.run(() => result.subscribe(subscriber)));
  };
