import {
  catchError,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  merge,
  type Observable,
  of,
  share,
  skip,
  startWith,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { lateToken, type Phases } from './Phases.js';
import { restored$, return$, type TabMessage, type Tabs } from './page.js';

/** How long a tab waits for the sign-in of another one, in milliseconds: that tab may be closed. */
export const maxForeignMs = 60_000;

/** What the other tabs and the page do, and what that means for the user of a session. */
export class Surroundings {
  /**
   * @param retryNow - repeats the requests that wait
   */
  constructor(
    private readonly phases: Phases,
    private readonly tabs: Tabs,
    private readonly retryNow: () => void,
  ) {}

  /** Follows the page and the other tabs, while there is a subscriber. */
  readonly all$: Observable<never> = defer(() =>
    merge(
      this.tabs.message$.pipe(
        // the sign-in that it waited for when its last subscriber left
        startWith(...(this.phases.isForeign ? (['signingIn'] as const) : [])),
        switchMap((message) => this.#hear(message)),
      ),
      restored$.pipe(switchMap(() => this.#catchUp())),
      return$.pipe(
        tap(() => {
          this.retryNow();
        }),
        switchMap(() => (this.phases.isTokenMissing ? this.#takeOther() : EMPTY)),
      ),
    ),
  ).pipe(ignoreElements(), share());

  /** Takes what another tab says. */
  #hear(message: TabMessage): Observable<unknown> {
    switch (message) {
      case 'signingIn':
        if (this.phases.phase === 'active') return EMPTY;
        this.phases.begin();
        this.phases.isForeign = true;
        return timer(maxForeignMs).pipe(
          tap(() => {
            this.phases.fail();
          }),
        );
      case 'signedIn':
        if (this.phases.phase !== 'active') return this.#takeOther();
        return this.phases.user.next(this.phases.provide()).pipe(
          tap((token) => this.phases.replaces(token)),
          takeUntil(this.phases.ended$),
        );
      case 'failed':
        if (this.phases.isForeign) this.phases.fail();
        return EMPTY;
      case 'signedOut':
        this.phases.end('signedOut');
        return EMPTY;
    }
  }

  /**
   * Takes what it has not heard while the browser kept the page. Without a token, the user may have signed out meanwhile, and
   * whoever goes back to the page must not see what it shows.
   */
  #catchUp(): Observable<unknown> {
    const before = this.phases.phase;
    if (before === 'signedOut') return EMPTY;
    const isSigningIn = before === 'signingIn';
    return this.phases.provide().pipe(
      tap((token) => {
        // the user has gone back from the page of a login service: a redirect never ends here
        if (isSigningIn) this.phases.abandon();
        if (token === undefined) this.phases.end('signedOut');
        else if (!this.phases.replaces(token) && before !== 'active') {
          if (this.phases.refused.has(token)) this.phases.fail();
          else this.phases.activate(token);
        }
      }),
      // the error is that of the next request, too
      catchError(() => {
        if (isSigningIn && !this.phases.isForeign) {
          this.phases.abandon();
          this.phases.fail();
        }
        return EMPTY;
      }),
      takeUntil(
        merge(
          this.phases.ended$,
          this.phases.phase$.pipe(
            skip(1),
            filter((phase) => isSigningIn || phase === 'signingIn'),
          ),
        ),
      ),
    );
  }

  /** Takes the token of the sign-in of another tab. If there is none, looks again when the page is shown again. */
  #takeOther(): Observable<unknown> {
    return lateToken(this.phases.provide(), (token) => this.phases.refused.has(token)).pipe(
      // the error is that of the next request, too
      catchError(() => of(undefined)),
      tap((token) => {
        if (this.phases.replaces(token)) return;
        if (token !== undefined) {
          this.phases.activate(token);
          return;
        }
        if (this.phases.isForeign) this.phases.fail();
        this.phases.isTokenMissing = true;
      }),
      takeUntil(merge(this.phases.ended$, this.phases.phase$.pipe(filter((phase) => phase === 'active')))),
    );
  }
}
