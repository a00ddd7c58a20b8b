import type { DestroyRef, NgZone } from '@angular/core';
import { NEVER, type Observable } from 'rxjs';
import type { Ledger } from '../ledger/Ledger.js';
import { handlingInside } from './handlingInside.js';
import { insideZone } from './insideZone.js';
import { outsideZone } from './outsideZone.js';
import { untilDestroyed } from './untilDestroyed.js';
import { waitedFor } from './waitedFor.js';

/** Where a ledger is used. */
export interface Surroundings {
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
  const once = <A>(source: Observable<A>): Observable<A> => (isServer ? around(source).pipe(waitedFor()) : source);
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
    events$: ledger.events$.pipe(insideZone(zone)),
  };
}
