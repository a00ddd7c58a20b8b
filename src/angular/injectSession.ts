import { inject, Injector, NgZone, type Signal, untracked } from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import type { LedgerSession, SessionState } from '../session/SessionState.js';
import { insideZone } from './zone.js';

/**
 * The session of a user, for components and services.
 *
 * @category Angular
 */
export interface SessionResource extends Pick<LedgerSession, 'signIn' | 'signOut'> {
  /** The state of the session. */
  readonly state: Signal<SessionState>;
}

/**
 * Returns the state of a session as a signal, until the component, directive or service that calls it is destroyed. Must be called
 * in an injection context, or with an `injector`.
 *
 * @param session - the session of `ledgerSession`
 * @param options - the injector, required outside an injection context
 * @throws Angular's error NG0203 outside an injection context
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { injectSession } from 'canton-rx/angular';
 * import { ledgerSession } from 'canton-rx/session';
 *
 * const session = ledgerSession({ token: () => localStorage.getItem('token') ?? undefined });
 *
 * class Login {
 *   readonly session = injectSession(session);
 *
 *   logOut(): void {
 *     void this.session.signOut();
 *   }
 * }
 * ```
 *
 * @category Angular
 */
export function injectSession(
  session: LedgerSession,
  { injector = inject(Injector) }: { readonly injector?: Injector } = {},
): SessionResource {
  // requests change it, which run outside the zone
  const state$ = session.state$.pipe(insideZone(injector.get(NgZone)));
  const state = toSignal(state$, { injector, initialValue: session.state });
  return { state, signIn: () => untracked(session.signIn), signOut: () => untracked(session.signOut) };
}
