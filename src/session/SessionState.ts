import type { Observable, ObservableInput } from 'rxjs';
import type { Interceptor } from '../client/Interceptor.js';
import type { AbortedSubmission } from './SignedOutError.js';

/**
 * The state of a session:
 *
 * - `signedOut`: there is no user: before the first token, after `signOut`, and for a moment when another user has signed in without
 *   it. A subscription to `state$` takes the token that there is before the first sign-in
 * - `signingIn`: the user signs in, in this tab or in another one
 * - `active`: there is a token
 * - `expired`: the participant refuses the token, and there is no other one. Requests wait for the next sign-in, and views keep
 *   what they show, as stale
 * - `offline`: the browser has no network. Requests are repeated when it is back
 *
 * @category Session
 */
export type SessionState = 'signedOut' | 'signingIn' | 'active' | 'expired' | 'offline';

/**
 * Options of `ledgerSession`.
 *
 * @category Session
 */
export interface SessionOptions {
  /**
   * Returns the token of the user, without a question: from a cache, or renewed in the background. Called before every request.
   * The argument is a token that the participant has refused, to be dropped from the cache. Returns `undefined` if the user must
   * sign in, as do an empty text and the refused token.
   */
  readonly token: (refused?: string) => string | undefined | ObservableInput<string | undefined>;
  /** Lets the user sign in, for example in a popup. After it, `token` has a token. Default: nothing. */
  readonly signIn?: (() => ObservableInput<unknown>) | undefined;
  /** Forgets the user, for example with a request to the login service. Default: nothing. */
  readonly signOut?: (() => ObservableInput<unknown>) | undefined;
  /**
   * The name that the tabs of the origin share. Sessions of different users need different ones.
   *
   * @defaultValue 'canton-rx session'
   */
  readonly name?: string | undefined;
}

/**
 * The session of a user in a browser. Created by `ledgerSession`. It is an interceptor of the ledger.
 *
 * @category Session
 */
export interface LedgerSession extends Interceptor {
  /** Emits the state: at once, and whenever it changes. That a user has left is the state for 50 ms at least, so that a page shows it. */
  readonly state$: Observable<SessionState>;
  /** The state now. */
  readonly state: SessionState;
  /**
   * Whether a user has signed out, or was replaced by another one, since the session was created.
   *
   * @internal
   */
  readonly hasUserLeft: boolean;
  /** The option `token` of the ledger. */
  readonly token: (refused?: string) => Observable<string>;
  /**
   * Lets the user sign in. All calls at the same time share one login. Those in other tabs wait for it, for a minute at most, and only
   * then begin another one, if it has failed. Before the first sign-in, and in the state `active`, it first calls the option `token`,
   * and needs no login if that returns one. A sign-out ends it: what the login brings after that is not used.
   *
   * @returns the state after it; rejects with the error of the option `signIn`
   */
  readonly signIn: () => Promise<SessionState>;
  /**
   * Signs out, in all tabs: feeds, views and submissions end with a `SignedOutError`, and so does what is subscribed to before the
   * next sign-in.
   *
   * @returns the submissions of this tab that were sent and may be committed; rejects with the error of the option `signOut`
   */
  readonly signOut: () => Promise<readonly AbortedSubmission[]>;
}
