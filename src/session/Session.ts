import {
  BehaviorSubject,
  catchError,
  combineLatest,
  concat,
  concatMap,
  defaultIfEmpty,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  from,
  ignoreElements,
  lastValueFrom,
  map,
  merge,
  type Observable,
  of,
  share,
  startWith,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { LedgerInfo, OperationInterception, SubmissionCall } from '../client/Interceptor.js';
import { TokenError } from '../errors/request.js';
import { lateToken } from './lateToken.js';
import type { LedgerSession, SessionOptions, SessionState } from './SessionState.js';
import { isOnline, isOnline$, return$, type TabMessage, Tabs } from './page.js';
import { SessionUser } from './SessionUser.js';
import { type AbortedSubmission, SignedOutError } from './SignedOutError.js';

/** The state of the user, whether or not there is a network. */
type Phase = Exclude<SessionState, 'offline'>;

/** A submission without an outcome. */
interface OpenSubmission {
  readonly commandId: string | undefined;
  isSent: boolean;
}

/** How many tokens in a row the participant may refuse: the first may have ended, and the second replaces it. */
const maxRefused = 2;

/** How long a tab waits for the sign-in of another one, in milliseconds: that tab may be closed. */
const maxForeignMs = 60_000;

/** The session of a user, as an interceptor of ledgers. */
export class Session implements LedgerSession {
  readonly #options: SessionOptions;
  readonly #tabs: Tabs;
  readonly #phase$ = new BehaviorSubject<Phase>('signedOut');
  /** What it was before the sign-in. */
  #before: { readonly phase: Phase; readonly hasSignedOut: boolean } = { phase: 'signedOut', hasSignedOut: false };
  /** Whether another tab signs in. */
  #isForeign = false;
  /** Whether another tab has signed in, and its token was not found. */
  #isTokenMissing = false;
  /** Whether the user has signed out, and not in again. */
  #hasSignedOut = false;
  /** Whose token it has. */
  readonly #user = new SessionUser();
  /** Emits when the user has left: after a sign-out, when the sign-in after one has failed, and when another user is there. */
  readonly #ended$ = new Subject<'signedOut' | 'failed' | 'replaced'>();
  /** How many users have left. */
  #left = 0;
  readonly #ledgers = new Set<LedgerInfo>();
  readonly #open = new Set<OpenSubmission>();
  /** The tokens that the participant has refused since it accepted one. */
  readonly #refused = new Set<string>();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#tabs = new Tabs(options.name ?? 'canton-rx session');
  }

  /** Follows the page and the other tabs, while there is a subscriber. */
  readonly #surroundings$: Observable<never> = defer(() =>
    merge(
      this.#tabs.message$.pipe(
        // the sign-in that it waited for when its last subscriber left
        startWith(...(this.#isForeign ? (['signingIn'] as const) : [])),
        switchMap((message) => this.#hear(message)),
      ),
      return$.pipe(
        tap(() => {
          this.#retryNow();
        }),
        switchMap(() => (this.#isTokenMissing ? this.#takeOther() : EMPTY)),
      ),
    ),
  ).pipe(ignoreElements(), share());

  /** Takes the token that there is, so that a new tab, a reload and the user who replaces another one need no sign-in. */
  readonly #known$: Observable<never> = defer(() => {
    const isNew = (): boolean => this.#phase$.value === 'signedOut' && !this.#hasSignedOut;
    const known$ = defer(() => (isNew() ? this.#provide() : EMPTY)).pipe(
      tap((token) => {
        if (token === undefined || !isNew()) return;
        this.#user.meet(token);
        this.#phase$.next('active');
      }),
      // the first request has the error
      catchError(() => EMPTY),
    );
    const replaced$ = this.#ended$.pipe(
      filter((how) => how === 'replaced'),
      // a page first shows that there is no user, and so begins again
      switchMap(() => timer(0)),
    );
    return merge(replaced$, of(0)).pipe(switchMap(() => known$));
  }).pipe(ignoreElements(), share());

  readonly state$ = defer(() =>
    merge(
      combineLatest([this.#phase$, isOnline$]).pipe(map(([phase, online]) => stateOf(phase, online))),
      this.#surroundings$,
      this.#known$,
    ),
  ).pipe(distinctUntilChanged());

  get state(): SessionState {
    return stateOf(this.#hasSignedOut ? 'signedOut' : this.#phase$.value, isOnline());
  }

  get hasUserLeft(): boolean {
    return this.#left > 0;
  }

  readonly token = (refused?: string): Observable<string> =>
    defer(() => {
      // without the ledger, it is not known when a token is accepted
      if (refused !== undefined && this.#ledgers.size > 0) this.#refused.add(refused);
      if (['signingIn', 'expired'].includes(this.#phase$.value)) return this.#afterSignIn$;
      return this.#provide(refused).pipe(concatMap((token) => this.#take(token, refused)));
    });

  readonly signIn = async (): Promise<SessionState> => {
    await lastValueFrom(this.#signIn$, { defaultValue: undefined });
    // a sign-out ends it without a value
    return this.state;
  };

  readonly signOut = async (): Promise<readonly AbortedSubmission[]> => {
    const sent = [...this.#open].filter(({ isSent }) => isSent).map(toAborted);
    this.#end('signedOut');
    this.#tabs.post('signedOut');
    await lastValueFrom(from(this.#options.signOut?.() ?? []), { defaultValue: undefined });
    return sent;
  };

  forLedger(ledger: LedgerInfo): this {
    this.#ledgers.add(ledger);
    return this;
  }

  feed(): OperationInterception<never> {
    return this.#intercept();
  }

  read(): OperationInterception<never> {
    return this.#intercept();
  }

  submission({ commandId }: SubmissionCall): OperationInterception<never> {
    const submission = { commandId, isSent: false };
    this.#open.add(submission);
    return {
      ...this.#intercept(submission),
      end: () => {
        this.#open.delete(submission);
      },
    };
  }

  /** Ends an operation when the user signs out, and notes what the participant accepts. */
  #intercept(submission?: OpenSubmission): OperationInterception<never> {
    const ended$ = defer(() => (this.#hasSignedOut ? of(undefined) : this.#ended$));
    return {
      until$: merge(ended$, this.#surroundings$).pipe(
        map(() => {
          throw new SignedOutError(submission && toAborted(submission));
        }),
      ),
      request: ({ path }) => {
        if (submission !== undefined && /\/(?:submit|execute)/.test(path)) submission.isSent = true;
        return {
          end: ({ how }) => {
            if (how === 'succeeded') this.#refused.clear();
          },
        };
      },
    };
  }

  /**
   * Calls the token function of the app. If the user leaves before it answers, the token belongs to that user: it is dropped,
   * and the function is called again, for the next user.
   */
  #provide(refused?: string): Observable<string | undefined> {
    return defer(() => {
      const left = this.#left;
      const token = this.#options.token(refused);
      return (typeof token === 'object' ? from(token) : of(token)).pipe(
        take(1),
        defaultIfEmpty(undefined),
        concatMap((found) => (left === this.#left ? of(found) : this.#provide())),
      );
    });
  }

  /** Takes a token of the app; waits for the next sign-in if it cannot be accepted. */
  #take(token: string | undefined, refused: string | undefined): Observable<string> {
    if (this.#hasSignedOut || this.#replaces(token)) throw signedOut();
    if (token === undefined || token === refused || this.#refused.size >= maxRefused) {
      if (this.#phase$.value === 'active') this.#phase$.next('expired');
      return this.#afterSignIn$;
    }
    this.#user.meet(token);
    if (this.#phase$.value === 'signedOut') this.#phase$.next('active');
    return of(token);
  }

  /** Whether a token is of another user than the one before. All that is of that one ends then, as after a sign-out. */
  #replaces(token: string | undefined): boolean {
    const isReplaced = this.#user.isReplacedBy(token);
    if (isReplaced) this.#end('replaced');
    return isReplaced;
  }

  readonly #afterSignIn$ = defer(() => {
    const left = this.#left;
    const check = (): void => {
      if (this.#hasSignedOut || left !== this.#left) throw signedOut();
    };
    return merge(this.#phase$, this.#surroundings$).pipe(
      tap(check),
      filter((phase) => phase === 'active'),
      take(1),
      concatMap(() => this.#provide()),
      tap(check),
      map((token) => {
        if (token === undefined || this.#replaces(token)) throw signedOut();
        return token;
      }),
    );
  });

  readonly #signIn$: Observable<SessionState> = defer(() =>
    this.#isForeign ? this.#afterOther$ : this.#ownSignIn$,
  ).pipe(share());

  /** Waits for the sign-in of another tab. */
  readonly #afterOther$ = defer(() =>
    merge(this.#phase$.pipe(filter((phase) => phase !== 'signingIn')), timer(maxForeignMs), this.#surroundings$).pipe(
      take(1),
      concatMap(() => (this.#phase$.value === 'active' ? of(this.state) : this.#ownSignIn$)),
    ),
  );

  readonly #ownSignIn$ = defer(() => {
    const mayHaveToken = !this.#hasSignedOut && ['active', 'signedOut'].includes(this.#phase$.value);
    const asked$ = concat(defer(() => from(this.#options.signIn?.() ?? [])).pipe(ignoreElements()), this.#provide());
    const token$ = (mayHaveToken ? this.#provide() : of(undefined)).pipe(
      concatMap((token) => (token === undefined ? asked$ : of(token))),
      concatMap((token) => (this.#replaces(token) ? timer(0) : of(0)).pipe(map(() => token))),
      // after a sign-out in any tab, a late token may belong to the user who has left
      takeUntil(merge(this.#ended$.pipe(filter((how) => how === 'signedOut')), this.#surroundings$)),
    );
    this.#begin();
    this.#tabs.post('signingIn');
    return token$.pipe(
      tap((token) => {
        if (token === undefined) this.#fail();
        else this.#activate(token);
        this.#tabs.post(token === undefined ? 'failed' : 'signedIn');
      }),
      map(() => this.state),
      catchError((error: unknown) => {
        this.#fail();
        this.#tabs.post('failed');
        throw error;
      }),
    );
  });

  /** Takes what another tab says. */
  #hear(message: TabMessage): Observable<unknown> {
    switch (message) {
      case 'signingIn':
        if (this.#phase$.value === 'active') return EMPTY;
        this.#begin();
        this.#isForeign = true;
        return timer(maxForeignMs).pipe(
          tap(() => {
            this.#fail();
          }),
        );
      case 'signedIn':
        if (this.#phase$.value !== 'active') return this.#takeOther();
        return this.#user.next(this.#provide()).pipe(
          tap((token) => this.#replaces(token)),
          takeUntil(this.#ended$),
        );
      case 'failed':
        if (this.#isForeign) this.#fail();
        return EMPTY;
      case 'signedOut':
        this.#end('signedOut');
        return EMPTY;
    }
  }

  /** Takes the token of the sign-in of another tab. If there is none, looks again when the page is shown again. */
  #takeOther(): Observable<unknown> {
    return lateToken(this.#provide(), (token) => this.#refused.has(token)).pipe(
      // the error is that of the next request, too
      catchError(() => of(undefined)),
      tap((token) => {
        if (this.#replaces(token)) return;
        if (token !== undefined) {
          this.#activate(token);
          return;
        }
        if (this.#isForeign) this.#fail();
        this.#isTokenMissing = true;
      }),
      takeUntil(merge(this.#ended$, this.#phase$.pipe(filter((phase) => phase === 'active')))),
    );
  }

  #begin(): void {
    this.#isTokenMissing = false;
    const phase = this.#phase$.value;
    if (phase !== 'signingIn' || this.#hasSignedOut) this.#before = { phase, hasSignedOut: this.#hasSignedOut };
    // what begins now waits for the sign-in
    this.#hasSignedOut = false;
    this.#phase$.next('signingIn');
  }

  #fail(): void {
    this.#isForeign = false;
    if (this.#phase$.value !== 'signingIn') return;
    if (this.#before.hasSignedOut) this.#end('failed');
    else this.#phase$.next(this.#before.phase);
  }

  #activate(token: string): void {
    this.#user.meet(token);
    this.#isForeign = false;
    this.#isTokenMissing = false;
    this.#hasSignedOut = false;
    this.#refused.clear();
    this.#phase$.next('active');
    this.#retryNow();
  }

  #end(how: 'signedOut' | 'failed' | 'replaced'): void {
    this.#isForeign = false;
    this.#isTokenMissing = false;
    this.#hasSignedOut = true;
    this.#refused.clear();
    this.#user.forget();
    if (how !== 'failed') this.#left += 1;
    // before the state, so that what waits for a token does not end with the error of the token
    this.#ended$.next(how);
    // what has ended may have begun the next sign-in
    if (this.state !== 'signedOut') return;
    // the token of the next user is there already
    this.#hasSignedOut = how !== 'replaced';
    this.#phase$.next('signedOut');
  }

  #retryNow(): void {
    for (const ledger of this.#ledgers) ledger.retryNow();
  }
}

const stateOf = (phase: Phase, online: boolean): SessionState => (online || phase === 'signedOut' ? phase : 'offline');

const toAborted = ({ commandId, isSent }: OpenSubmission): AbortedSubmission => ({ commandId, mayBeCommitted: isSent });

const signedOut = (): TokenError => new TokenError('the user is not signed in');
