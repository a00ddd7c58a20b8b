import { catchError, EMPTY, filter, type Observable } from 'rxjs';
import { userOf } from '../client/claims.js';
import { lateToken } from './lateToken.js';

/**
 * The user of a session, as far as its tokens show one: an opaque token shows none. What was read for a user must not be shown to
 * the next one, and the one who signs in after the end of a token may be another one.
 */
export class SessionUser {
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
