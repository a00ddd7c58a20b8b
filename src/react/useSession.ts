import { useMemo, useSyncExternalStore } from 'react';
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
  const { subscribe, current } = useMemo(() => storeOf(session), [session]);
  const state = useSyncExternalStore(subscribe, current, (): SessionState => 'signedOut');
  return useMemo(() => ({ state, signIn: session.signIn, signOut: session.signOut }), [state, session]);
}

/** The state as `state$` has it. The session may be ahead of it: the page first shows that the former user has left. */
function storeOf(session: LedgerSession) {
  let shown: SessionState | undefined;
  return {
    subscribe: (notify: () => void) => {
      const next = (state: SessionState): void => {
        shown = state;
        notify();
      };
      const subscription = session.state$.subscribe({ next, error: notify });
      return () => {
        subscription.unsubscribe();
        shown = undefined;
      };
    },
    current: (): SessionState => shown ?? session.state,
  };
}
