import { describe, expect, it } from '@jest/globals';
import {
  asyncScheduler,
  catchError,
  filter,
  ignoreElements,
  map,
  type Observable,
  skipWhile,
  take,
  tap,
  timer,
} from 'rxjs';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import { shareContracts } from '../../src/contracts/shareContracts.js';
import { ledgerSession, SignedOutError } from '../../src/session/index.js';
import { briefState } from '../contracts/brief.js';
import { create, marbles as query } from '../contracts/joinSupport.js';
import { observe, type Observed } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { contractsWorld } from '../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { LocalChannel } from './channels.js';

Object.defineProperty(globalThis, 'BroadcastChannel', { value: LocalChannel, configurable: true });

const unauthorized = errorReply(401, errorBody('NA', -1));

/** A token of a user; that of nobody shows no user. */
const tokenOf = (user: string, count = 0): string =>
  user === '' ? `opaque-${count}` : `header.${btoa(JSON.stringify({ sub: user, count }))}.signature`;

let names = 0;

/** A storage that tabs share, and a participant that accepts all tokens but one. */
function world(first: string) {
  const store = { token: tokenOf(first) as string | undefined, next: tokenOf('bob'), refused: '' };
  names += 1;
  const name = `next user ${names}`;
  /** A tab, which sends requests with tokens. */
  const tab = () => {
    const used: (string | undefined)[] = [];
    const calls: (string | undefined)[] = [];
    const session = ledgerSession({
      token: (refused) => {
        calls.push(refused);
        if (refused === store.token) store.token = undefined;
        return store.token;
      },
      signIn: () => timer(100).pipe(tap(() => (store.token = store.next))),
      name,
    });
    const virtual = contractsWorld({
      latencyMs: 1,
      fault: ({ token }) => {
        used.push(token);
        return token === store.refused ? unauthorized : undefined;
      },
      client: { token: session.token, interceptors: [session], retry: { baseDelayMs: 1_000, maxDelayMs: 30_000 } },
    });
    virtual.participant.append(create(1, 'x'));
    const states = observe(session.state$);
    const view = observe(liveContracts(virtual.client, { ...query }).state$.pipe(map(briefState)));
    const close = (): void => {
      for (const { subscription } of [states, view]) subscription.unsubscribe();
    };
    return { ...virtual, session, used, calls, states, view, close };
  };
  return { store, tab, name };
}

/** Runs something at a time of the virtual clock. */
const at = (ms: number, run: () => unknown): void => {
  timer(ms).subscribe(run);
};

describe('the sign-in of another user', () => {
  it.each([
    ['bob', 'alice', true],
    ['alice', 'alice', false],
    ['', 'alice', false],
    ['bob', '', false],
  ])('ends what the session had, if the token shows that: of "%s" after "%s": %s', (next, first, ends) => {
    marbles(({ flush }) => {
      const { store, tab } = world(first);
      const { session, states, view, used, client, close } = tab();
      let later: ReturnType<typeof observe<string>> | undefined;
      const results: unknown[] = [];
      store.next = tokenOf(next, 1);
      at(5_000, () => (store.refused = tokenOf(first)));
      at(100_000, () => {
        void session.signIn().then((state) => results.push(state));
      });
      at(101_000, () => {
        later = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
      });
      at(110_000, () => {
        later?.subscription.unsubscribe();
        close();
      });
      flush();
      expect(view.error instanceof SignedOutError).toBe(ends);
      const gone = ends ? ['signedOut'] : [];
      expect(states.values).toEqual(['signedOut', 'active', 'expired', 'signingIn', ...gone, 'active']);
      expect(later?.values.at(-1)).toBe('live/open 1 x');
      expect(used.at(-1)).toBe(tokenOf(next, 1));
    });
  });

  it.each([
    ['has a token', 5_000, 0],
    ['has a token, and reads the storage late', 5_000, 700],
    ['has none that is valid', 100_000, 0],
  ])('ends what another tab has that %s', (_, signInAt, lateMs) => {
    marbles(({ flush }) => {
      const { store, tab, name } = world('alice');
      const { states, view, used, close } = tab();
      const other = new LocalChannel(name);
      if (signInAt > 5_000) at(5_000, () => (store.refused = tokenOf('alice')));
      at(signInAt, () => {
        other.postMessage('signedIn');
      });
      at(signInAt + lateMs, () => (store.token = tokenOf('bob')));
      at(signInAt + 2_500, () => {
        close();
        other.close();
      });
      flush();
      expect(view.error instanceof SignedOutError).toBe(true);
      expect((view.endedAt ?? Infinity) - signInAt).toBeLessThan(1_100);
      expect(states.values.slice(-2)).toEqual(['signedOut', 'active']);
      expect(used).not.toContain(tokenOf('bob'));
    });
  });

  it.each([
    ['alice', 6],
    ['', 0],
  ])('is looked for during two seconds, unless the token shows no user: "%s"', (user, looks) => {
    marbles(({ flush }) => {
      const { tab, name } = world(user);
      const { states, view, calls, close } = tab();
      const other = new LocalChannel(name);
      at(4_000, () => {
        view.subscription.unsubscribe();
        calls.splice(0);
      });
      at(5_000, () => {
        other.postMessage('signedIn');
      });
      at(7_100, () => {
        expect(calls).toHaveLength(looks);
      });
      at(60_000, () => {
        close();
        other.close();
      });
      flush();
      expect([calls.length, view.error, states.values]).toEqual([looks, undefined, ['signedOut', 'active']]);
    });
  });

  it('ends what there is with the first token of that user, also where no tab has said anything', () => {
    marbles(({ flush }) => {
      const { store, tab } = world('alice');
      const { client, session, states, view, used, close } = tab();
      let end: ReturnType<typeof observe<number>> | undefined;
      at(5_000, () => {
        store.token = tokenOf('bob');
        end = observe(client.ledgerEnd());
        expect([end.error, view.error].map((error) => error instanceof SignedOutError)).toEqual([true, true]);
        expect([session.state, used.includes(tokenOf('bob'))]).toEqual(['signedOut', false]);
      });
      at(5_100, () => {
        expect(states.values).toEqual(['signedOut', 'active', 'signedOut', 'active']);
        end = observe(client.ledgerEnd());
      });
      at(5_200, () => {
        expect([end?.values, used.at(-1)]).toEqual([[1], tokenOf('bob')]);
        close();
      });
      flush();
    });
  });

  it('begins only after the page has had the time to show that the former one has left, whatever else begins', () => {
    marbles(({ flush }) => {
      const { store, tab } = world('alice');
      const { client, session, states, used, close } = tab();
      const began: Observed<unknown>[] = [];
      at(5_000, () => {
        store.token = tokenOf('bob');
        began.push(observe(client.ledgerEnd()));
        // as in a component that reads again after each error, and in a request of the app
        began.push(observe(client.ledgerEnd()), observe(session.token()));
        expect([session.state, used.includes(tokenOf('bob'))]).toEqual(['signedOut', false]);
      });
      at(5_100, () => {
        expect(states.values).toEqual(['signedOut', 'active', 'signedOut', 'active']);
        const [left, back] = states.times.slice(-2);
        expect((back ?? 0) - (left ?? 0)).toBeGreaterThan(16);
        expect(began.map(({ values }) => values)).toEqual([[], [1], [tokenOf('bob')]]);
        close();
      });
      flush();
    });
  });

  it('leaves no shared view of the former one, and needs no subscription to the state', () => {
    marbles(({ flush }) => {
      const { store, tab } = world('alice');
      const { client, session, close } = tab();
      close();
      const shared = shareContracts(client).view(query);
      const shown = observe(shared.state$.pipe(map(briefState)));
      at(4_000, () => {
        // kept for the next subscriber
        shown.subscription.unsubscribe();
        expect(shown.values.at(-1)).toBe('live/open 1 x');
      });
      at(5_000, () => {
        store.token = tokenOf('bob');
        void session.signIn();
      });
      let state: string | undefined;
      at(5_001, () => {
        expect(shared.current().known).toBeUndefined();
        state = session.state;
        observe(client.ledgerEnd());
      });
      at(5_100, () => {
        expect([state, session.state]).toEqual(['signedOut', 'active']);
      });
      flush();
    });
  });
});

describe('a sign-out', () => {
  it('while the token is refused ends what waits for another one with an error of its own', () => {
    marbles(({ flush }) => {
      const { store, tab } = world('alice');
      const { client, session, view, states, close } = tab();
      const waiting: { error: unknown }[] = [];
      at(5_000, () => (store.refused = tokenOf('alice')));
      at(100_000, () => {
        expect(session.state).toBe('expired');
        waiting.push(observe(client.ledgerEnd()), observe(client.parties()), view);
        void session.signOut();
        expect(waiting.map(({ error }) => error instanceof SignedOutError)).toEqual([true, true, true]);
        close();
      });
      flush();
      expect(states.values.at(-1)).toBe('signedOut');
    });
  });

  it.each<[string, (tab: ReturnType<ReturnType<typeof world>['tab']>) => Observable<unknown>]>([
    ['the state is watched', ({ session }) => session.state$.pipe(filter((state) => state === 'signedOut'))],
    [
      'a view ends',
      ({ client }) =>
        liveContracts(client, { ...query }).state$.pipe(
          ignoreElements(),
          catchError(() => [0]),
        ),
    ],
  ])('lets the next sign-in begin at once, where %s', (_, toSignIn) => {
    marbles(({ flush }) => {
      const { store, tab } = world('alice');
      const one = tab();
      const results: unknown[] = [];
      toSignIn(one)
        .pipe(
          skipWhile(() => asyncScheduler.now() < 5_000),
          take(1),
        )
        .subscribe(() => void one.session.signIn().then((state) => results.push(state)));
      at(5_000, () => void one.session.signOut());
      at(6_000, () => {
        expect([one.session.state, store.token, one.view.error instanceof SignedOutError]).toEqual([
          'active',
          tokenOf('bob'),
          true,
        ]);
        one.close();
      });
      flush();
    });
  });

  it('of another tab ends a sign-in, also where nothing watches the state', () => {
    marbles(({ flush }) => {
      const answer$ = timer(10_000);
      const session = ledgerSession({ token: () => 'a', signIn: () => answer$, name: 'unwatched' });
      void session.signOut();
      const other = new LocalChannel('unwatched');
      at(1_000, () => void session.signIn());
      at(2_000, () => {
        expect(session.state).toBe('signingIn');
        other.postMessage('signedOut');
      });
      at(20_000, () => {
        expect(session.state).toBe('signedOut');
        other.close();
      });
      flush();
    });
  });
});
