import {
  asyncScheduler,
  BehaviorSubject,
  concatMap,
  defaultIfEmpty,
  defer,
  from,
  map,
  type Observable,
  of,
  Subject,
  take,
  timer,
  catchError,
  EMPTY,
  filter,
  takeLast,
  takeWhile,
} from 'rxjs';
import type { SessionOptions, SessionState } from './SessionState.js';
import { isOnline } from './page.js';
import { userOf } from '../client/claims.js';

/** The state of the user, whether or not there is a network. */
type Phase = Exclude<SessionState, 'offline'>;

/**
 * How long a page shows that there is no user before the next one begins, in milliseconds. A framework may render
 * some time after a change, once for all changes until then: at the next frame, or in a timer.
 */
const momentMs = 50;

/** The phases of the users of a session, one user after the other: who is there, and what begins and ends with each of them. */
export class Phases {
  readonly #phase$ = new BehaviorSubject<Phase>('signedOut');
  readonly phase$ = this.#phase$.asObservable();
  /** What it was before the sign-in. */
  #before: { readonly phase: Phase; readonly hasSignedOut: boolean } = { phase: 'signedOut', hasSignedOut: false };
  /** Whether another tab signs in. */
  isForeign = false;
  /** Whether another tab has signed in, and its token was not found. */
  isTokenMissing = false;
  /** Whether the user has signed out, and not in again. */
  hasSignedOut = false;
  /** Whose token it has. */
  readonly user = new SessionUser();
  /** Emits when the user has left: after a sign-out, when the sign-in after one has failed, and when another user is there. */
  readonly #ended$ = new Subject<'signedOut' | 'failed' | 'replaced'>();
  readonly ended$ = this.#ended$.asObservable();
  /** Emits when a sign-in of this tab has no end any more, because its page has left and is back. */
  readonly #abandoned$ = new Subject<void>();
  readonly abandoned$ = this.#abandoned$.asObservable();
  /** How many users have left. */
  left = 0;
  /** When the last user has left, in milliseconds since the epoch. */
  #leftAt = -Infinity;
  /** Emits as soon as the page has had the time to show that the former user has left. */
  readonly shown$: Observable<unknown> = defer(() => {
    const waitMs = this.#leftAt + momentMs - asyncScheduler.now();
    // the clock may have been set
    return waitMs > 0 && waitMs <= momentMs ? timer(waitMs) : of(0);
  });
  /** The tokens that the participant has refused since it accepted one. */
  readonly refused = new Set<string>();

  /**
   * @param token - the token function of the app
   * @param onActive - is called after a sign-in
   */
  constructor(
    private readonly token: SessionOptions['token'],
    private readonly onActive: () => void,
  ) {}

  get phase(): Phase {
    return this.#phase$.value;
  }

  get state(): SessionState {
    return stateOf(this.hasSignedOut ? 'signedOut' : this.phase, isOnline());
  }

  /**
   * Calls the token function of the app. If the user leaves before it answers, the token belongs to that user: it is dropped,
   * and the function is called again, for the next user.
   */
  provide(refused?: string): Observable<string | undefined> {
    return defer(() => {
      const { left } = this;
      const token = this.token(refused) ?? undefined;
      return (typeof token === 'object' ? from(token) : of(token)).pipe(
        take(1),
        defaultIfEmpty(undefined),
        map(tokenIn),
        concatMap((found) => (left === this.left ? of(found) : this.provide())),
      );
    });
  }

  /** Whether a token is of another user than the one before. All that is of that one ends then, as after a sign-out. */
  replaces(token: string | undefined): boolean {
    const isReplaced = this.user.isReplacedBy(token);
    if (isReplaced) this.end('replaced');
    return isReplaced;
  }

  /** There is a token of the user. */
  meet(token: string): void {
    this.user.meet(token);
    if (this.phase === 'signedOut') this.#phase$.next('active');
  }

  /** There is no token that the participant accepts. */
  expire(): void {
    if (this.phase === 'active') this.#phase$.next('expired');
  }

  /** A sign-in begins. */
  begin(): void {
    this.isTokenMissing = false;
    const phase = this.phase;
    if (phase !== 'signingIn' || this.hasSignedOut) this.#before = { phase, hasSignedOut: this.hasSignedOut };
    // what begins now waits for the sign-in
    this.hasSignedOut = false;
    this.#phase$.next('signingIn');
  }

  /** The sign-in of this tab has no end any more. */
  abandon(): void {
    this.#abandoned$.next();
  }

  /** A sign-in has failed. */
  fail(): void {
    this.isForeign = false;
    if (this.phase !== 'signingIn') return;
    if (this.#before.hasSignedOut) this.end('failed');
    else this.#phase$.next(this.#before.phase);
  }

  /** A sign-in has brought a token. */
  activate(token: string): void {
    this.user.meet(token);
    this.isForeign = false;
    this.isTokenMissing = false;
    this.hasSignedOut = false;
    this.refused.clear();
    this.#phase$.next('active');
    this.onActive();
  }

  /** The user has left. */
  end(how: 'signedOut' | 'failed' | 'replaced'): void {
    this.isForeign = false;
    this.isTokenMissing = false;
    this.hasSignedOut = true;
    this.refused.clear();
    this.user.forget();
    if (how !== 'failed') {
      this.left += 1;
      this.#leftAt = asyncScheduler.now();
    }
    // before the state, so that what waits for a token does not end with the error of the token
    this.#ended$.next(how);
    // what has ended may have begun the next sign-in
    if (this.state !== 'signedOut') return;
    // the token of the next user is there already
    this.hasSignedOut = how !== 'replaced';
    this.#phase$.next('signedOut');
  }
}

/** An app may also have `null`, as storage has it, or an empty text where there is no token. */
const tokenIn = (provided: string | null | undefined): string | undefined =>
  provided === '' ? undefined : (provided ?? undefined);

/** Returns the state of a session in a phase. */
export const stateOf = (phase: Phase, online: boolean): SessionState =>
  online || phase === 'signedOut' ? phase : 'offline';

/**
 * The user of a session, as far as its tokens show one: an opaque token shows none. What was read for a user must not be shown to
 * the next one, and the one who signs in after the end of a token may be another one.
 */
class SessionUser {
  #user: string | undefined;

  /** Whether a token is of another user. */
  isReplacedBy(token: string | undefined): boolean {
    const user = userOf(token);
    return this.#user !== undefined && user !== undefined && user !== this.#user;
  }

  /** Takes the user of a token. */
  meet(token: string): void {
    this.#user = userOf(token) ?? this.#user;
  }

  forget(): void {
    this.#user = undefined;
  }

  /**
   * Looks for a token of another user after a sign-in in another tab.
   *
   * @param token$ - the token that there is
   * @returns emits the token if there is one within two seconds
   */
  next(token$: Observable<string | undefined>): Observable<string | undefined> {
    if (this.#user === undefined) return EMPTY;
    return lateToken(token$, (token) => !this.isReplacedBy(token)).pipe(
      filter((token) => this.isReplacedBy(token)),
      // the error is that of the next request, too
      catchError(() => EMPTY),
    );
  }
}

/** The pauses between the looks for a token, in milliseconds: two seconds together. */
const pausesMs = [0, 50, 150, 300, 500, 1_000];

/**
 * Looks for the token of a sign-in in another tab. What tabs share may come later than the message of that sign-in: another
 * process reads a write to `localStorage` only some time after it. So it looks a few times within two seconds.
 *
 * @param token$ - the token that there is
 * @param isOld - whether a token is one from before the sign-in
 * @returns emits the first token that is not old. If there is none, emits what the last look has found, an old token too: the login
 * service may return the same one
 * @internal
 */
export const lateToken = (
  token$: Observable<string | undefined>,
  isOld: (token: string) => boolean,
): Observable<string | undefined> =>
  from(pausesMs).pipe(
    concatMap((ms) => (ms === 0 ? of(0) : timer(ms)).pipe(concatMap(() => token$))),
    takeWhile((token) => token === undefined || isOld(token), true),
    takeLast(1),
  );
