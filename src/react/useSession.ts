import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { LedgerSession, SessionState } from '../session/SessionState.js';

/**
 * The session of a user, for components. Its functions are always the same.
 *
 * @category React
 */
export interface SessionResult extends Pick<LedgerSession, 'signIn' | 'signOut'> {
  /** The state of the session. On a server it is `'signedOut'`. */
  readonly state: SessionState;
}

/**
 * Returns the state of a session, and renders the component when it changes.
 *
 * @param session - the session of `ledgerSession`, created outside components
 * @example
 * ```ts
 * import { useSession } from 'canton-rx/react';
 * import { ledgerSession } from 'canton-rx/session';
 * import { createElement } from 'react';
 *
 * const session = ledgerSession({ token: () => localStorage.getItem('token') ?? undefined });
 *
 * const Login = () => {
 *   const { state, signIn } = useSession(session);
 *   return createElement('button', { onClick: () => void signIn(), disabled: state === 'signingIn' }, state);
 * };
 * ```
 *
 * @category React
 */
export function useSession(session: LedgerSession): SessionResult {
  const subscribe = useCallback(
    (notify: () => void) => {
      const subscription = session.state$.subscribe({ next: notify, error: notify });
      return () => {
        subscription.unsubscribe();
      };
    },
    [session],
  );
  const state = useSyncExternalStore(
    subscribe,
    () => session.state,
    (): SessionState => 'signedOut',
  );
  return useMemo(() => ({ state, signIn: session.signIn, signOut: session.signOut }), [state, session]);
}
