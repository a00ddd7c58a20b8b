import { Session } from './Session.js';
import type { LedgerSession, SessionOptions } from './SessionState.js';

/**
 * Returns a session: who uses a ledger in a browser, whether that user is signed in, and whether there is a network. Pass it to
 * the ledger twice: `token`, and the session itself as an interceptor.
 *
 * While a token is renewed, nothing changes on the screen but that views are stale. When the participant refuses a token and
 * there is no other one, the session is `expired`, once for all views. A sign-in in one tab continues the views of all tabs, which
 * take its token from where your app keeps it for them, such as `localStorage`: `sessionStorage` belongs to one tab. When
 * the network is back or the page is shown again, requests that wait are repeated within two seconds, at a random time. The tabs
 * never exchange tokens.
 *
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { ledgerSession } from 'canton-rx/session';
 *
 * const session = ledgerSession({
 *   token: () => localStorage.getItem('token') ?? undefined,
 *   signIn: async () => {
 *     const response = await fetch('/login', { method: 'POST' });
 *     localStorage.setItem('token', await response.text());
 *   },
 *   signOut: async () => {
 *     localStorage.removeItem('token');
 *     await fetch('/logout', { method: 'POST' });
 *   },
 * });
 * const ledger = createLedger({
 *   baseUrl: 'https://participant.example',
 *   token: session.token,
 *   interceptors: [session],
 * });
 * const watching = session.state$.subscribe((state) => {
 *   console.log(state, ledger);
 * });
 * watching.unsubscribe();
 * ```
 *
 * @category Session
 */
export const ledgerSession = (options: SessionOptions): LedgerSession => new Session(options);
