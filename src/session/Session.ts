import {
  catchError,
  combineLatest,
  concat,
  concatMap,
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
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { LedgerInfo, OperationInterception, SubmissionCall } from '../client/Interceptor.js';
import type { UserToken } from '../client/TokenSource.js';
import { TokenError } from '../errors/request.js';
import type { LedgerSession, SessionOptions, SessionState } from './SessionState.js';
import { isOnline$, Tabs } from './page.js';
import { Phases, stateOf } from './Phases.js';
import { type AbortedSubmission, SignedOutError } from './SignedOutError.js';
import { maxForeignMs, Surroundings } from './Surroundings.js';

/** A submission without an outcome. */
interface OpenSubmission {
  readonly commandId: string | undefined;
  isSent: boolean;
}

/** How many tokens in a row the participant may refuse: the first may have ended, and the second replaces it. */
const maxRefused = 2;

/** The session of a user, as an interceptor of ledgers. */
export class Session implements LedgerSession {
  readonly #options: SessionOptions;
  readonly #tabs: Tabs;
  readonly #phases: Phases;
  readonly #surroundings$: Observable<never>;
  readonly #ledgers = new Set<LedgerInfo>();
  readonly #open = new Set<OpenSubmission>();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#tabs = new Tabs(options.name ?? 'canton-rx session');
    const retryNow = (): void => {
      for (const ledger of this.#ledgers) ledger.retryNow();
    };
    this.#phases = new Phases(options.token, retryNow);
    this.#surroundings$ = new Surroundings(this.#phases, this.#tabs, retryNow).all$;
  }

  /** Takes the token that there is, so that a new tab, a reload and the user who replaces another one need no sign-in. */
  readonly #known$: Observable<never> = defer(() => {
    const isNew = (): boolean => this.#phases.phase === 'signedOut' && !this.#phases.hasSignedOut;
    const known$ = defer(() => (isNew() ? this.#phases.provide() : EMPTY)).pipe(
      tap((token) => {
        if (token === undefined || !isNew()) return;
        this.#phases.meet(token);
      }),
      // the first request has the error
      catchError(() => EMPTY),
    );
    const replaced$ = this.#phases.ended$.pipe(
      filter((how) => how === 'replaced'),
      // a page first shows that there is no user, and so begins again
      switchMap(() => this.#phases.shown$),
    );
    return merge(replaced$, of(0)).pipe(switchMap(() => known$));
  }).pipe(ignoreElements(), share());

  readonly state$ = defer(() =>
    merge(
      combineLatest([this.#phases.phase$, isOnline$]).pipe(
        // another subscriber may have changed the phase before this one gets it
        map(([, online]) => stateOf(this.#phases.phase, online)),
        concatMap((state) => (state === 'signedOut' ? of(0) : this.#phases.shown$).pipe(map(() => state))),
      ),
      this.#surroundings$,
      this.#known$,
    ),
  ).pipe(distinctUntilChanged());

  get state(): SessionState {
    return this.#phases.state;
  }

  get hasUserLeft(): boolean {
    return this.#phases.left > 0;
  }

  readonly token: UserToken = Object.assign(
    (refused?: string): Observable<string> =>
      defer(() => {
        // without the ledger, it is not known when a token is accepted
        if (refused !== undefined && this.#ledgers.size > 0) this.#phases.refused.add(refused);
        if (['signingIn', 'expired'].includes(this.#phases.phase)) return this.#afterSignIn$;
        return (this.#phases.hasSignedOut ? of(0) : this.#phases.shown$).pipe(
          concatMap(() => this.#phases.provide(refused)),
          concatMap((token) => this.#take(token, refused)),
        );
      }),
    { left$: this.#leftWith(() => new SignedOutError()) },
  );

  readonly signIn = async (): Promise<SessionState> => {
    await lastValueFrom(this.#signIn$, { defaultValue: undefined });
    // a sign-out ends it without a value
    return this.state;
  };

  readonly signOut = async (): Promise<readonly AbortedSubmission[]> => {
    const sent = [...this.#open].filter(({ isSent }) => isSent).map(toAborted);
    // before what a subscriber does at once with the state
    this.#tabs.post('signedOut');
    this.#phases.end('signedOut');
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
    return {
      until$: this.#leftWith(() => new SignedOutError(submission && toAborted(submission))),
      request: ({ path }) => {
        if (submission !== undefined && /\/(?:submit|execute)/.test(path)) submission.isSent = true;
        return {
          end: ({ how }) => {
            if (how === 'succeeded') this.#phases.refused.clear();
          },
        };
      },
    };
  }

  /** Fails when the user leaves, and at once before the next sign-in. */
  #leftWith(error: () => SignedOutError): Observable<never> {
    return defer(() =>
      merge(this.#phases.hasSignedOut ? of(undefined) : this.#phases.ended$, this.#surroundings$),
    ).pipe(
      map(() => {
        throw error();
      }),
    );
  }

  /** Takes a token of the app; waits for the next sign-in if it cannot be accepted. */
  #take(token: string | undefined, refused: string | undefined): Observable<string> {
    if (this.#phases.hasSignedOut || this.#phases.replaces(token)) throw signedOut();
    if (token === undefined || token === refused || this.#phases.refused.size >= maxRefused) {
      this.#phases.expire();
      return this.#afterSignIn$;
    }
    this.#phases.meet(token);
    return of(token);
  }

  readonly #afterSignIn$ = defer(() => {
    const left = this.#phases.left;
    const check = (): void => {
      if (this.#phases.hasSignedOut || left !== this.#phases.left) throw signedOut();
    };
    return merge(this.#phases.phase$, this.#surroundings$).pipe(
      tap(check),
      filter((phase) => phase === 'active'),
      take(1),
      concatMap(() => this.#phases.provide()),
      tap(check),
      map((token) => {
        if (token === undefined || this.#phases.replaces(token)) throw signedOut();
        return token;
      }),
    );
  });

  readonly #signIn$: Observable<SessionState> = defer(() =>
    (this.#phases.isForeign ? this.#afterOther$ : this.#ownSignIn$).pipe(
      // after a sign-out in any tab, a late token may belong to the user who left
      takeUntil(
        merge(
          this.#phases.ended$.pipe(filter((how) => how === 'signedOut')),
          this.#phases.abandoned$,
          this.#surroundings$,
        ),
      ),
    ),
  ).pipe(share());

  /** Waits for the sign-in of another tab. */
  readonly #afterOther$ = defer(() =>
    merge(
      this.#phases.phase$.pipe(filter((phase) => phase !== 'signingIn')),
      timer(maxForeignMs),
      this.#surroundings$,
    ).pipe(
      take(1),
      concatMap(() => (this.#phases.phase === 'active' ? of(this.state) : this.#ownSignIn$)),
    ),
  );

  readonly #ownSignIn$ = defer(() => {
    const mayHaveToken = !this.#phases.hasSignedOut && ['active', 'signedOut'].includes(this.#phases.phase);
    const asked$ = concat(
      defer(() => from(this.#options.signIn?.() ?? [])).pipe(ignoreElements()),
      this.#phases.provide(),
    );
    const token$ = (mayHaveToken ? this.#phases.provide() : of(undefined)).pipe(
      concatMap((token) => (token === undefined ? asked$ : of(token))),
      tap((token) => this.#phases.replaces(token)),
      concatMap((token) => this.#phases.shown$.pipe(map(() => token))),
    );
    this.#tabs.post('signingIn');
    this.#phases.begin();
    return token$.pipe(
      tap((token) => {
        this.#tabs.post(token === undefined ? 'failed' : 'signedIn');
        if (token === undefined) this.#phases.fail();
        else this.#phases.activate(token);
      }),
      map(() => this.state),
      catchError((error: unknown) => {
        this.#tabs.post('failed');
        this.#phases.fail();
        throw error;
      }),
    );
  });
}

const toAborted = ({ commandId, isSent }: OpenSubmission): AbortedSubmission => ({ commandId, mayBeCommitted: isSent });

const signedOut = (): TokenError => new TokenError('the user is not signed in');
