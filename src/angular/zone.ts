import { type DestroyRef, NgZone, untracked } from '@angular/core';
import {
  dematerialize,
  concatMap,
  materialize,
  type MonoTypeOperatorFunction,
  noop,
  Observable,
  of,
  Subscription,
  takeWhile,
  timer,
  using,
} from 'rxjs';
import type { FeedCall, FeedInterception, Interception, Interceptor, Outcome } from '../client/Interceptor.js';
import { nameOf } from '../errors/internal/message.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { clampTimer } from '../http/retry.js';
import { bindingOf } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';

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

/**
 * Runs the feeds of a ledger outside Angular's zone, and emits within it, because an application that waits for a feed without
 * an end is never stable. Feeds end with the injector: on a server they would otherwise continue after the page was sent.
 * Single requests keep the application unstable until they are answered, so that a page is rendered with the response.
 * An effect that subscribes depends on none of the signals that the ledger's options read.
 *
 * @internal
 */
export class ZoneInterceptor implements Interceptor {
  /**
   * @param environment - that of the injector which provides the ledger
   */
  constructor(readonly environment: LedgerEnvironment) {}

  /** Contracts are read by `injectContracts`, which itself decides where they run. */
  feed({ kind, processor }: FeedCall): FeedInterception | undefined {
    if (kind === 'contracts' && processor === undefined) return { run: untracked };
    const { destroyRef, hasFeeds, zone } = this.environment;
    return {
      ...this.#throughZone(),
      handler: () => ({
        run: (work) => {
          zone.run(work);
        },
      }),
      until$: hasFeeds ? destroyed(destroyRef) : of(true),
    };
  }

  submission(): Interception | undefined {
    return this.#single();
  }

  read(): Interception | undefined {
    return this.#single();
  }

  /** Node's fetch has one timer for all connections: in the zone, the connections of feeds would keep it pending. */
  #single(): Interception | undefined {
    const { isServer, pendingTasks, zone } = this.environment;
    // an effect that submits would submit again when a signal changes that the token is read from
    if (!isServer) return { run: untracked };
    const task = beginTask(zone, pendingTasks);
    const through = this.#throughZone();
    return {
      ...through,
      end: (outcome) => {
        through.end(outcome);
        task.unsubscribe();
      },
    };
  }

  #throughZone(): Required<Interception> {
    const { isServer, zone } = this.environment;
    return {
      run: (work) => {
        zone.runOutsideAngular(() => {
          untracked(work);
        });
      },
      emit: (deliver) => {
        runInZone(zone, deliver);
      },
      end: ({ error }: Outcome) => {
        // a rendered page may show it
        if (isServer) withoutHost(error);
      },
    };
  }
}

/**
 * Returns the `DestroyRef` of the injector that provides a ledger, if one does.
 *
 * @internal
 */
export const destroyRefOf = (ledger: LedgerReader): DestroyRef | undefined =>
  bindingOf(ledger)
    ?.client.scopes.map(({ interceptor }) => interceptor)
    .find((interceptor) => interceptor instanceof ZoneInterceptor)?.environment.destroyRef;

/** Emits when an injector is destroyed. After that, errors with Angular's NG0205. */
const destroyed = (destroyRef: DestroyRef): Observable<void> =>
  new Observable((subscriber) =>
    destroyRef.onDestroy(() => {
      subscriber.next();
    }),
  );

function runInZone(zone: NgZone, work: () => void): void {
  zone.run(() => {
    // a zone with a pending microtask renders after it, not on each exit: a page of updates is rendered once
    if (NgZone.isInAngularZone()) queueMicrotask(noop);
    work();
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
    runInZone(zone, () => {
      subscriber.next(value);
      subscriber.complete();
    });
  });

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
      () => beginTask(zone, pendingTasks),
      () => source,
    );

function beginTask(zone: NgZone, pendingTasks: PendingTaskList | undefined): Subscription {
  const task = new Subscription(pendingTasks?.add());
  task.add(zone.run(() => timer(clampTimer(Infinity)).subscribe()));
  return task;
}

/**
 * Removes the address of the ledger from the message of an error, which a rendered page may show.
 *
 * @internal
 */
export function withoutHost(error: unknown): unknown {
  if (!isLedgerError(error) || !('host' in error) || error.host === undefined) return error;
  return Object.assign(error, { message: error.message.replaceAll(error.host, nameOf()), host: undefined });
}
