import { describe, expect, it } from '@jest/globals';
import { tap, timer } from 'rxjs';
import { type LedgerSession, ledgerSession, type SessionState } from '../../src/session/index.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { LocalChannel } from './channels.js';

Object.defineProperty(globalThis, 'BroadcastChannel', { value: LocalChannel, configurable: true });

let names = 0;

/** Two tabs of an app, whose sign-out takes five seconds to forget the token. */
function tabs() {
  const store: { token?: string | undefined } = {};
  const name = `at once ${(names += 1)}`;
  const tab = (): LedgerSession =>
    ledgerSession({
      token: () => store.token,
      signIn: () => timer(100).pipe(tap(() => (store.token = 'a'))),
      signOut: () => timer(5_000).pipe(tap(() => (store.token = undefined))),
      name,
    });
  return { store, one: tab(), other: tab() };
}

/** Does something whenever a session gets into a state. */
const whenever = (session: LedgerSession, state: SessionState, act: () => unknown) =>
  session.state$.subscribe((present) => {
    if (present === state) act();
  });

describe('what a subscriber does at once with a state', () => {
  it.each<[SessionState, (session: LedgerSession) => unknown, SessionState, readonly SessionState[]]>([
    ['active', (session) => session.signOut(), 'signedOut', ['signedOut', 'signingIn', 'signedOut']],
    ['signingIn', (session) => session.signOut(), 'signedOut', ['signedOut']],
    ['expired', (session) => session.signIn(), 'signingIn', ['signedOut', 'signingIn', 'active', 'signingIn']],
  ])('in %s leaves no subscriber a state that is over', (state, act, last, all) => {
    marbles(() => {
      const { one, store } = tabs();
      const acting = whenever(one, state, () => act(one));
      const later = observe(one.state$);
      void one.signIn();
      timer(1_000).subscribe(() => {
        store.token = undefined;
        observe(one.token('a'));
        expect([one.state, later.values]).toEqual([last, all]);
        acting.unsubscribe();
        later.subscription.unsubscribe();
      });
    });
  });

  it.each<SessionState>(['signingIn', 'active'])('in %s is a sign-out for all tabs', (state) => {
    marbles(() => {
      const { one, other } = tabs();
      const acting = whenever(one, state, () => one.signOut());
      const states = observe(other.state$);
      void one.signIn();
      timer(4_000).subscribe(() => {
        expect([other.state, states.values.at(-1)]).toEqual(['signedOut', 'signedOut']);
        acting.unsubscribe();
        states.subscription.unsubscribe();
      });
    });
  });
});
