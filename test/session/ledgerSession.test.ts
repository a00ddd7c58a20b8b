import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { EMPTY, map, NEVER, type Observable, of, Subject, tap, throwError, timer } from 'rxjs';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import { partiesOf } from '../../src/contracts/partiesOf.js';
import type { CommandsRequest } from '../../src/codecs/SubmissionRequest.js';
import { ledgerSession, type SessionOptions, type SessionState, SignedOutError } from '../../src/session/index.js';
import { briefState } from '../contracts/brief.js';
import { archive, create, marbles as query } from '../contracts/joinSupport.js';
import { observe, type Observed } from '../helpers/observe.js';
import { marbles, until } from '../helpers/time.js';
import { contractsWorld } from '../helpers/virtualContracts.js';
import { LocalChannel } from './channels.js';
import { errorBody, errorReply, brokenConnection } from '../helpers/wire.js';

const unauthorized = errorReply(401, errorBody('NA', -1));
const request: CommandsRequest = {
  actAs: ['alice::1220ab'],
  commandId: 'c-1',
  commands: [{ CreateCommand: { templateId: '#m:M:Marble', createArguments: {} } }],
};

Object.defineProperty(globalThis, 'BroadcastChannel', { value: LocalChannel, configurable: true });

let sessions = 0;
/** Each test has its own tabs. */
const newName = (): string => `test ${(sessions += 1)}`;

/** A participant with a contract `x` that accepts some tokens, and a session whose user has one or not. */
function world({
  accepted = ['a'],
  name = newName(),
  ...options
}: Partial<SessionOptions> & { accepted?: string[] } = {}) {
  const user: { token: string | undefined; calls: (string | undefined)[]; logins: number } = {
    token: 'a',
    calls: [],
    logins: 0,
  };
  const trouble = { isOffline: false };
  const session = ledgerSession({
    token: (refused) => {
      user.calls.push(refused);
      if (refused !== undefined && refused === user.token) user.token = undefined;
      return user.token;
    },
    signIn: () => {
      user.logins += 1;
      user.token = accepted.at(-1);
      return EMPTY;
    },
    name,
    ...options,
  });
  const virtual = contractsWorld({
    latencyMs: 1,
    fault: ({ token, path }) => {
      if (trouble.isOffline) return brokenConnection;
      if (path.includes('/submit')) return NEVER;
      return accepted.includes(token ?? '') ? undefined : unauthorized;
    },
    client: { token: session.token, interceptors: [session], retry: { baseDelayMs: 1_000, maxDelayMs: 30_000 } },
  });
  virtual.participant.append(create(1, 'x'));
  return { ...virtual, session, user, accepted, trouble, name };
}

/** A page: its events, whether it has a network and whether it is shown. */
function openPage() {
  const page = new EventTarget();
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const navigator = { onLine: true };
  const globals = {
    document,
    navigator,
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
  };
  for (const [key, value] of Object.entries(globals)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, key);
    Object.defineProperty(globalThis, key, { value, configurable: true, writable: true });
    closes.push(() => {
      if (before === undefined) Reflect.deleteProperty(globalThis, key);
      else Object.defineProperty(globalThis, key, before);
    });
  }
  const setOnline = (isOnline: boolean): void => {
    navigator.onLine = isOnline;
    page.dispatchEvent(new Event(isOnline ? 'online' : 'offline'));
  };
  const show = (visibilityState: string): void => {
    document.visibilityState = visibilityState;
    document.dispatchEvent(new Event('visibilitychange'));
  };
  const restore = (persisted: boolean): void => {
    page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));
  };
  return { setOnline, show, restore };
}
const closes: (() => void)[] = [];
afterEach(() => {
  jest.restoreAllMocks();
  for (const close of closes.splice(0)) close();
});

/** Runs something at a time of the virtual clock. */
const at = (ms: number, run: () => unknown): void => {
  timer(ms).subscribe(run);
};

describe('a session', () => {
  it('is active with the first token, with or without a sign-in', async () => {
    const { session, client, user } = world();
    expect(session.state).toBe('signedOut');
    const end = observe(client.ledgerEnd());
    await until(() => end.completed);
    const states = observe(session.state$);
    expect([states.values, session.state, user.logins]).toEqual([['active'], 'active', 0]);
    const other = world();
    expect(await other.session.signIn()).toBe('active');
    expect(other.user.logins).toBe(0);
    states.subscription.unsubscribe();
  });

  it('takes the token that there is when it is subscribed to, but none of a user who has signed out', async () => {
    const { session, user } = world();
    const states = observe(session.state$);
    expect([states.values, user.logins]).toEqual([['signedOut', 'active'], 0]);
    expect([await session.signIn(), user.logins]).toEqual(['active', 0]);
    await session.signOut();
    states.subscription.unsubscribe();
    const later = observe(session.state$);
    expect([later.values, user.calls.length]).toEqual([['signedOut'], 2]);
    later.subscription.unsubscribe();
  });

  it('is signed out if its first token comes after a sign-out, or is an error', async () => {
    const token$ = new Subject<string>();
    const session = ledgerSession({ token: () => token$, name: newName() });
    const states = observe(session.state$);
    await session.signOut();
    token$.next('a');
    expect(states.values).toEqual(['signedOut']);
    states.subscription.unsubscribe();
    const failing = ledgerSession({ token: () => throwError(() => new Error('no storage')), name: newName() });
    const other = observe(failing.state$);
    expect([other.values, other.error]).toEqual([['signedOut'], undefined]);
    other.subscription.unsubscribe();
  });

  it('lets the user sign in if there is no token, once for all calls', async () => {
    const answer$ = new Subject<unknown>();
    let logins = 0;
    const user: { token?: string } = {};
    const session = ledgerSession({
      token: () => user.token,
      signIn: () => {
        logins += 1;
        return answer$;
      },
      name: newName(),
    });
    const states = observe(session.state$);
    const results = Promise.all([session.signIn(), session.signIn()]);
    user.token = 'a';
    answer$.complete();
    expect(await results).toEqual(['active', 'active']);
    expect([states.values, logins]).toEqual([['signedOut', 'signingIn', 'active'], 1]);
    states.subscription.unsubscribe();
  });

  it.each<[string, SessionOptions['token']]>([
    ['undefined', () => undefined],
    ['an empty text', () => ''],
    ['null', () => null as never],
    ['a promise of an empty text', () => Promise.resolve('')],
    ['a promise of null', () => Promise.resolve(null as never)],
  ])('lets the user sign in where the app has %s in place of a token', async (_, none) => {
    const user: { token?: string } = {};
    const session = ledgerSession({
      token: (refused) => user.token ?? none(refused),
      signIn: () => {
        user.token = 'a';
        return EMPTY;
      },
      name: newName(),
    });
    const states = observe(session.state$);
    expect(await session.signIn()).toBe('active');
    expect([states.values, user.token]).toEqual([['signedOut', 'signingIn', 'active'], 'a']);
    states.subscription.unsubscribe();
  });

  it('is what it was before after a sign-in that fails or brings no token', async () => {
    const answers = [throwError(() => new Error('closed')), EMPTY];
    const session = ledgerSession({ token: () => undefined, signIn: () => answers.shift() ?? NEVER, name: newName() });
    const states = observe(session.state$);
    await expect(session.signIn()).rejects.toThrow('closed');
    expect(await session.signIn()).toBe('signedOut');
    const all: SessionState[] = ['signedOut', 'signingIn', 'signedOut', 'signingIn', 'signedOut'];
    expect(states.values).toEqual(all);
    states.subscription.unsubscribe();
  });

  it.each(['token', 'signIn'] as const)(
    'stays signed out if the %s of a sign-in comes after a sign-out',
    async (late) => {
      const answer$ = new Subject<string | undefined>();
      const user: { token?: string } = {};
      const name = newName();
      const session = ledgerSession({
        token: () => (late === 'token' && user.token === undefined ? answer$ : user.token),
        signIn: () => answer$,
        name,
      });
      const said: unknown[] = [];
      const channel = new BroadcastChannel(name);
      channel.addEventListener('message', (event) => said.push((event as MessageEvent<unknown>).data));
      const signedIn = session.signIn();
      await session.signOut();
      user.token = 'a';
      answer$.next('a');
      answer$.complete();
      expect([await signedIn, session.state]).toEqual(['signedOut', 'signedOut']);
      await until(() => said.length === 2);
      expect(said).toEqual(['signingIn', 'signedOut']);
      channel.close();
      // the next sign-in is another one
      expect(await session.signIn()).toBe('active');
    },
  );

  it('is signed out by a sign-out during the sign-in after the end of a token', async () => {
    const answer$ = new Subject<unknown>();
    const { session, client, user } = world({ accepted: [], signIn: () => answer$ });
    const states = observe(session.state$);
    const end = observe(client.ledgerEnd());
    await until(() => session.state === 'expired');
    const signedIn = session.signIn();
    await session.signOut();
    user.token = 'a';
    answer$.complete();
    expect(await signedIn).toBe('signedOut');
    expect(states.values.slice(-3)).toEqual(['expired', 'signingIn', 'signedOut']);
    expect(end.error).toBeDefined();
    states.subscription.unsubscribe();
  });

  it('renews a refused token, and views do not notice', () => {
    marbles(({ flush }) => {
      const calls: (string | undefined)[] = [];
      let token = 'a';
      const { session, client, accepted, participant } = world({
        token: (refused) => {
          calls.push(refused);
          if (refused === 'a') token = 'b';
          return timer(100).pipe(map(() => token));
        },
      });
      const states = observe(session.state$);
      const view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
      at(5_000, () => {
        accepted.splice(0, 1, 'b');
        participant.append(archive(2, 'x'));
      });
      at(60_000, () => {
        view.subscription.unsubscribe();
        states.subscription.unsubscribe();
      });
      flush();
      expect(states.values).toEqual(['signedOut', 'active']);
      expect(view.values.at(-1)).toMatch(/^live\/open \d $/);
      expect(view.values.slice(3).filter((value) => /loading|retrying/.test(value))).toEqual([]);
      expect(calls.filter((refused) => refused !== undefined)).toEqual(['a']);
    });
  });

  it('is expired once for all views when there is no other token, keeps what they show, and goes on after a sign-in', () => {
    marbles(({ flush }) => {
      const { session, client, user, accepted, service, participant } = world();
      const states = observe(session.state$);
      const views = [1, 2, 3].map(() => observe(liveContracts(client, { ...query }).state$.pipe(map(briefState))));
      const shown: (string | undefined)[][] = [];
      const requests: number[] = [];
      at(5_000, () => accepted.splice(0, 1, 'b'));
      at(100_000, () => requests.push(service.requests.length));
      at(600_000, () => {
        requests.push(service.requests.length);
        shown.push(views.map(({ values }) => values.at(-1)));
        participant.append(create(2, 'y'));
        void session.signIn();
      });
      at(601_500, () => {
        shown.push(views.map(({ values }) => values.at(-1)));
        for (const { subscription } of [...views, states]) subscription.unsubscribe();
      });
      flush();
      expect(states.values).toEqual(['signedOut', 'active', 'expired', 'signingIn', 'active']);
      expect(user.logins).toBe(1);
      expect(shown[0]?.every((state) => /^stale\/\w+ 1 x$/.test(state ?? ''))).toBe(true);
      // within two seconds, although the back-off is long by then
      expect(shown[1]).toEqual(Array.from(views, () => 'live/open 2 xy'));
      // without a token, nothing is sent
      expect(requests[1]).toBe(requests[0]);
    });
  });

  it('is expired when the app returns the refused token again', () => {
    marbles(({ flush }) => {
      const { session, client, accepted } = world({ token: () => 'a' });
      const states = observe(session.state$);
      const view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
      at(5_000, () => accepted.splice(0, 1, 'b'));
      at(300_000, () => {
        view.subscription.unsubscribe();
        states.subscription.unsubscribe();
      });
      flush();
      expect(states.values).toEqual(['signedOut', 'active', 'expired']);
      expect([view.error, view.values.at(-1)]).toEqual([undefined, expect.stringMatching(/^stale\/\w+ 1 x$/)]);
    });
  });

  it('is expired when the participant refuses the new token as well', () => {
    marbles(({ flush }) => {
      let count = 0;
      const { session, client } = world({ token: () => `t${(count += 1)}` });
      const states = observe(session.state$);
      const view = observe(liveContracts(client, { ...query }).state$);
      at(300_000, () => {
        view.subscription.unsubscribe();
        states.subscription.unsubscribe();
      });
      flush();
      expect(states.values).toEqual(['signedOut', 'active', 'expired']);
      expect(count).toBeLessThan(10);
    });
  });

  it('stays active while each new token is accepted, however many end', () => {
    marbles(({ flush }) => {
      let count = 0;
      const { session, client, accepted } = world({
        accepted: ['t0'],
        token: (refused) => {
          if (refused === `t${count}`) count += 1;
          return `t${count}`;
        },
      });
      const states = observe(session.state$);
      const view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
      for (const round of [1, 2, 3]) at(round * 100_000, () => accepted.splice(0, 1, `t${round}`));
      at(400_000, () => {
        view.subscription.unsubscribe();
        states.subscription.unsubscribe();
      });
      flush();
      expect([count, states.values]).toEqual([3, ['signedOut', 'active']]);
      expect(view.values.at(-1)).toBe('live/open 1 x');
    });
  });

  it('ends feeds and views when the user signs out, sends nothing more, and begins again after a sign-in', () => {
    marbles(({ flush }) => {
      const { session, client, service, user } = world();
      const updates = observe(client.updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }));
      const view = liveContracts(client, { ...query });
      const first = observe(view.state$);
      const facts: unknown[] = [];
      let later: ReturnType<typeof observe> | undefined;
      let again: ReturnType<typeof observe<string>> | undefined;
      at(5_000, () => {
        void session.signOut();
        facts.push(session.state, service.open, service.requests.length);
        later = observe(view.state$);
      });
      at(900_000, () => {
        facts.push(service.requests.length);
        // the token of the last user is not taken without a question
        void session.signIn();
      });
      at(900_100, () => (again = observe(view.state$.pipe(map(briefState)))));
      at(901_000, () => again?.subscription.unsubscribe());
      flush();
      expect(facts).toEqual(['signedOut', 0, facts[2], facts[2]]);
      for (const ended of [updates, first, later]) expect(ended?.error instanceof SignedOutError).toBe(true);
      expect(again?.values.at(-1)).toBe('live/open 1 x');
      expect(user.logins).toBe(1);
    });
  });

  it.each([true, false])(
    'lets what begins during the next sign-in wait for it, whether it succeeds: %s',
    (succeeds) => {
      marbles(({ flush }) => {
        const answer$ = timer(60_000);
        const { session, client, service, user } = world({
          signIn: () => answer$.pipe(tap(() => (user.token = succeeds ? 'a' : undefined))),
        });
        void session.signOut();
        user.token = undefined;
        at(1_000, () => void session.signIn());
        const during: { view?: ReturnType<typeof observe<string>>; sent?: number } = {};
        at(2_000, () => {
          during.view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
        });
        at(60_999, () => (during.sent = service.requests.length));
        at(62_000, () => during.view?.subscription.unsubscribe());
        flush();
        expect(during.sent).toBe(0);
        if (succeeds) expect(during.view?.values.at(-1)).toBe('live/open 1 x');
        else expect([session.state, during.view?.error instanceof SignedOutError]).toEqual(['signedOut', true]);
      });
    },
  );

  it('sends no request of the next user with a token of the one before, however late that comes', () => {
    marbles(({ flush }) => {
      const renewed$ = new Subject<string>();
      const tokens: { now: Observable<string> } = { now: of('alice') };
      const used: (string | undefined)[] = [];
      const session = ledgerSession({ token: () => tokens.now, signIn: () => EMPTY, name: newName() });
      const { client, participant } = contractsWorld({
        latencyMs: 1,
        fault: ({ token }) => {
          used.push(token);
          return undefined;
        },
        client: { token: () => session.token(), interceptors: [session] },
      });
      participant.append(create(1, 'x'));
      // what the interceptor does not end, such as a request to another server, waits for the same token
      const waiting = observe(session.token());
      at(1_000, () => {
        tokens.now = renewed$;
        waiting.values.splice(0);
        session.token().subscribe((token) => waiting.values.push(token));
        observe(client.ledgerEnd());
      });
      at(2_000, () => void session.signOut());
      at(3_000, () => {
        tokens.now = of('bob');
        void session.signIn();
      });
      let view: ReturnType<typeof observe> | undefined;
      at(4_000, () => {
        view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
        renewed$.next('alice');
      });
      at(6_000, () => {
        expect(view?.values.at(-1)).toBe('live/open 1 x');
        view?.subscription.unsubscribe();
        expect([waiting.values, new Set(used)]).toEqual([['bob'], new Set(['bob'])]);
      });
      flush();
    });
  });

  it('ends the parties of a user with the views when the user signs out', async () => {
    const { session, client } = world({
      accepted: ['a'],
    });
    const parties = observe(partiesOf(client, { userId: 'alice' }));
    await session.signOut();
    expect(parties.error instanceof SignedOutError).toBe(true);
    const later = observe(partiesOf(client));
    expect(later.error instanceof SignedOutError).toBe(true);
  });

  it('aborts submissions when the user signs out, and says which may be committed', async () => {
    let isSlow = false;
    const { session, client, service } = world({ token: () => (isSlow ? NEVER : 'a') });
    const submission = observe(client.submitAndWaitForTransaction(request));
    const isSending = (): boolean => service.requests.some(({ path }) => path.includes('/submit'));
    await until(isSending);
    isSlow = true;
    const unsent = observe(client.submitAndWaitForTransaction({ ...request, commandId: 'c-2' }));
    const read = observe(client.ledgerEnd());
    const aborted = await session.signOut();
    expect(read.error instanceof SignedOutError).toBe(true);
    expect(aborted).toEqual([{ commandId: 'c-1', mayBeCommitted: true }]);
    expect(submission.error).toMatchObject({
      name: 'SignedOutError',
      message: 'The user has signed out.\nCommand: c-1\nOutcome: it may be committed',
      summary: 'You have signed out, and it is not known whether your request has succeeded.',
    });
    expect(unsent.error).toMatchObject({ submission: { commandId: 'c-2', mayBeCommitted: false } });
    expect(service.open).toBe(0);
    const later = observe(client.submitAndWaitForTransaction(request));
    expect(later.error).toMatchObject({ submission: { mayBeCommitted: false }, summary: 'You have signed out.' });
    expect(await session.signOut()).toEqual([]);
  });

  it('forgets the user by the function of the app, whose error it rejects with', async () => {
    let signedOut = 0;
    const signOut = () => {
      signedOut += 1;
      return throwError(() => new Error('no network'));
    };
    const session = ledgerSession({ token: () => 'a', signOut, name: newName() });
    await session.signIn();
    await expect(session.signOut()).rejects.toThrow('no network');
    expect([session.state, signedOut]).toEqual(['signedOut', 1]);
    const token = observe(session.token());
    expect(token.error).toMatchObject({ _tag: 'TokenError' });
  });
});

describe('the tabs of a session', () => {
  /** Two tabs with the same user. */
  function tabs() {
    const one = world();
    const other = world({ name: one.name });
    one.user.token = other.user.token = undefined;
    const states = [one, other].map(({ session }) => observe(session.state$));
    const close = (): void => {
      for (const { subscription } of states) subscription.unsubscribe();
    };
    closes.push(close);
    const said: unknown[] = [];
    const channel = new BroadcastChannel(one.name);
    channel.addEventListener('message', (event) => said.push((event as MessageEvent<unknown>).data));
    closes.push(() => {
      channel.close();
    });
    return { one, other, states, said };
  }

  it('sign in once, and never say a token', async () => {
    const { one, other, states, said } = tabs();
    const answer$ = new Subject<unknown>();
    const waiting = ledgerSession({
      token: () => one.user.token,
      signIn: () => answer$,
      name: one.name,
    });
    const signedIn = waiting.signIn();
    await until(() => other.session.state === 'signingIn');
    const joined = other.session.signIn();
    one.user.token = other.user.token = 'a';
    answer$.complete();
    expect(await Promise.all([signedIn, joined])).toEqual(['active', 'active']);
    await until(() => one.session.state === 'active');
    expect(states.map(({ values }) => values)).toEqual([
      ['signedOut', 'signingIn', 'active'],
      ['signedOut', 'signingIn', 'active'],
    ]);
    expect([one.user.logins, other.user.logins]).toEqual([0, 0]);
    await until(() => said.length === 2);
    expect(said).toEqual(['signingIn', 'signedIn']);
  });

  it('sign out together', async () => {
    const { one, other } = tabs();
    one.user.token = other.user.token = 'a';
    const view = observe(liveContracts(other.client, { ...query }).state$);
    await until(() => other.session.state === 'active');
    await one.session.signOut();
    await until(() => view.error !== undefined);
    expect([other.session.state, other.service.open]).toEqual(['signedOut', 0]);
  });

  it('are not disturbed by the sign-in of another one while they have a token', async () => {
    const { one, states, said } = tabs();
    one.user.token = 'a';
    await one.session.signIn();
    await until(() => states[0]?.values.includes('active') === true);
    const count = states[0]?.values.length;
    const other = new LocalChannel(one.name);
    for (const message of ['signingIn', 'failed', 'signedIn']) other.postMessage(message);
    other.close();
    await until(() => said.length === 5);
    expect([one.session.state, states[0]?.values.length]).toEqual(['active', count]);
  });

  it('are as before when the sign-in of another one fails', async () => {
    const { one, states } = tabs();
    const failing = ledgerSession({
      token: () => undefined,
      signIn: () => throwError(() => new Error('closed')),
      name: one.name,
    });
    await expect(failing.signIn()).rejects.toThrow('closed');
    await until(() => states.every(({ values }) => values.length === 3));
    expect(states.map(({ values }) => values.at(-1))).toEqual(['signedOut', 'signedOut']);
  });

  describe('look for the token of the sign-in of another one', () => {
    /** What a tab shows if the token comes some time after the sign-in of another tab, at 1,000 ms. */
    function lateToken(afterMs: number, also: (tab: ReturnType<typeof world>) => void = () => undefined) {
      return marbles(({ flush }) => {
        const tab = world();
        tab.user.token = undefined;
        const states = observe(tab.session.state$);
        const other = new LocalChannel(tab.name);
        at(900, () => {
          other.postMessage('signingIn');
        });
        at(1_000, () => {
          other.postMessage('signedIn');
        });
        at(1_000 + afterMs, () => (tab.user.token = 'a'));
        also(tab);
        at(60_000, () => {
          states.subscription.unsubscribe();
          other.close();
        });
        flush();
        return { states: states.values, times: states.times, calls: tab.user.calls.length, logins: tab.user.logins };
      });
    }

    it.each([20, 300, 1_500])('which comes %i ms later', (ms) => {
      const { states, times, logins } = lateToken(ms);
      expect([states, logins]).toEqual([['signedOut', 'signingIn', 'active'], 0]);
      expect((times.at(-1) ?? NaN) - 1_000 - ms).toBeLessThan(1_000);
    });

    it('a few times within two seconds', () => {
      const { states, times, calls } = lateToken(100_000);
      expect([states, times.at(-1)]).toEqual([['signedOut', 'signingIn', 'signedOut'], 3_000]);
      expect(calls).toBeLessThan(9);
    });

    it('which comes much later, when the page is shown again', () => {
      const page = openPage();
      const { states, times } = lateToken(10_000, () => {
        at(20_000, () => {
          page.show('visible');
        });
      });
      expect(states).toEqual(['signedOut', 'signingIn', 'signedOut', 'active']);
      expect((times.at(-1) ?? NaN) - 20_000).toBeLessThan(1_001);
    });

    it('which replaces the one that the participant has refused', () => {
      marbles(({ flush }) => {
        const { session, client, user, accepted, name } = world({ token: (refused) => tokenIfNot(refused) });
        const tokenIfNot = (refused?: string): string | undefined => (user.token === refused ? undefined : user.token);
        const states = observe(session.state$);
        const view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
        const other = new LocalChannel(name);
        at(1_000, () => accepted.splice(0, 1, 'b'));
        at(100_000, () => {
          other.postMessage('signedIn');
        });
        at(100_500, () => (user.token = 'b'));
        at(110_000, () => {
          for (const { subscription } of [states, view]) subscription.unsubscribe();
          other.close();
        });
        flush();
        expect(states.values).toEqual(['signedOut', 'active', 'expired', 'active']);
        expect(view.values.at(-1)).toBe('live/open 1 x');
      });
    });

    it('but not of a user who signs out meanwhile', () => {
      const page = openPage();
      const { states } = lateToken(1_500, ({ session }) => {
        at(1_200, () => void session.signOut());
        at(20_000, () => {
          page.show('visible');
        });
      });
      expect(states).toEqual(['signedOut', 'signingIn', 'signedOut']);
    });
  });

  it.each(['this tab', 'the other tab'])(
    'begin no login after a sign-out in %s that ends their wait for a sign-in',
    (where) => {
      marbles(({ flush }) => {
        const { session, user, name } = world();
        user.token = undefined;
        const other = new LocalChannel(name);
        const states = observe(session.state$);
        at(1_000, () => {
          other.postMessage('signingIn');
        });
        at(2_000, () => {
          void session.signIn();
        });
        at(3_000, () => {
          if (where === 'this tab') void session.signOut();
          else other.postMessage('signedOut');
        });
        at(200_000, () => {
          states.subscription.unsubscribe();
          other.close();
        });
        flush();
        expect([user.logins, states.values]).toEqual([0, ['signedOut', 'signingIn', 'signedOut']]);
      });
    },
  );

  it('wait for a minute at most for one that was closed while its user signed in', () => {
    marbles(({ flush }) => {
      const { session, user, name } = world();
      user.token = undefined;
      const states = observe(session.state$);
      const closed = new LocalChannel(name);
      const logins: number[] = [];
      at(1_000, () => {
        closed.postMessage('signingIn');
        closed.postMessage('nonsense');
      });
      at(30_000, () => void session.signIn());
      at(60_500, () => logins.push(user.logins));
      at(61_500, () => logins.push(user.logins));
      at(100_000, () => {
        states.subscription.unsubscribe();
        closed.close();
      });
      flush();
      expect(states.values).toEqual(['signedOut', 'signingIn', 'signedOut', 'signingIn', 'active']);
      expect(logins).toEqual([0, 1]);
    });
  });

  it.each([
    ['nothing has happened', undefined],
    ['the sign-in has ended unheard', 'signedIn'],
  ] as const)(
    'wait for a minute at most also after nothing has watched the session for a while, where %s',
    (_, said) => {
      marbles(({ flush }) => {
        const { session, client, user, name } = world();
        user.token = undefined;
        const first = observe(session.state$);
        const other = new LocalChannel(name);
        at(1_000, () => {
          other.postMessage('signingIn');
        });
        at(2_000, () => {
          expect(session.state).toBe('signingIn');
          first.subscription.unsubscribe();
        });
        at(3_000, () => {
          if (said === undefined) return;
          user.token = 'a';
          other.postMessage(said);
        });
        const later: { states?: Observed<SessionState>; end?: Observed<number> } = {};
        at(4_000, () => {
          later.states = observe(session.state$);
        });
        at(70_000, () => {
          later.end = observe(client.ledgerEnd());
        });
        at(71_000, () => {
          later.states?.subscription.unsubscribe();
          later.end?.subscription.unsubscribe();
          other.close();
        });
        flush();
        expect(later.states?.values).toEqual(['signingIn', 'signedOut', ...(said === undefined ? [] : ['active'])]);
        expect(later.states?.times[1]).toBe(60_000);
        expect(later.end?.values).toEqual(said === undefined ? [] : [1]);
      });
    },
  );
});

describe('a page that returns', () => {
  /** When a view that has waited for half an hour without a network is live again, in milliseconds after an event. */
  function returnAfter(event: (page: ReturnType<typeof openPage>) => void, isBack = true): number | undefined {
    const page = openPage();
    return marbles(({ flush }) => {
      const { session, client, trouble } = world();
      const states = observe(session.state$);
      const view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
      at(5_000, () => {
        trouble.isOffline = true;
        page.setOnline(false);
      });
      at(1_800_000, () => {
        trouble.isOffline = !isBack;
        event(page);
      });
      at(1_803_000, () => {
        for (const { subscription } of [states, view]) subscription.unsubscribe();
      });
      flush();
      expect(states.values.slice(0, 3)).toEqual(['signedOut', 'active', 'offline']);
      const index = view.values.lastIndexOf('live/open 1 x');
      const ms = (view.times[index] ?? 0) - 1_800_000;
      return ms >= 0 ? ms : undefined;
    });
  }
  const online = (page: ReturnType<typeof openPage>): void => {
    page.setOnline(true);
  };

  it.each<[string, (page: ReturnType<typeof openPage>) => void]>([
    ['the network is back', online],
    [
      'it is shown again',
      (page) => {
        page.show('visible');
      },
    ],
    [
      'it comes out of the back/forward cache',
      (page) => {
        page.restore(true);
      },
    ],
  ])('repeats its requests within two seconds when %s', (_, event) => {
    expect(returnAfter(event)).toBeLessThan(2_100);
  });

  it.each<[string, (page: ReturnType<typeof openPage>) => void]>([
    [
      'is hidden',
      (page) => {
        page.show('hidden');
      },
    ],
    [
      'is new',
      (page) => {
        page.restore(false);
      },
    ],
  ])('does not when it %s', (_, event) => {
    const returned = Array.from({ length: 5 }, () => returnAfter(event)).filter((ms) => ms !== undefined);
    expect(returned.length).toBeLessThan(5);
  });

  it('spreads the requests of many pages', () => {
    const delays = Array.from({ length: 12 }, () => returnAfter(online) ?? Infinity);
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(300);
    expect(Math.max(...delays)).toBeLessThan(2_100);
  });

  it('begins its back-off again, so that a network that comes back slowly is noticed soon', () => {
    // a sum of random delays has no limit that is near
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const page = openPage();
    marbles(({ flush }) => {
      const { client, trouble } = world();
      const view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
      at(5_000, () => (trouble.isOffline = true));
      at(1_800_000, () => {
        page.setOnline(true);
      });
      at(1_803_000, () => (trouble.isOffline = false));
      at(1_812_000, () => {
        view.subscription.unsubscribe();
      });
      flush();
      expect(view.values.at(-1)).toBe('live/open 1 x');
    });
  });

  describe('out of the back/forward cache, where it has heard nothing of other tabs', () => {
    /** The states from 5,000 ms, when the page is restored, and its view. */
    function restoreWith(token: SessionOptions['token'], isExpired = false, first = 'a', leavesAt?: number) {
      const page = openPage();
      return marbles(({ flush }) => {
        const store: { token: SessionOptions['token'] } = { token: () => first };
        // the page leaves for that of a login service
        const signIn = jest.fn(() => NEVER);
        const { session, client, accepted } = world({ accepted: [first], token: () => store.token(), signIn });
        if (leavesAt !== undefined) at(leavesAt, () => void session.signIn());
        const states = observe(session.state$);
        const view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
        let shown: number | undefined;
        if (isExpired) at(1_000, () => accepted.splice(0, 1, 'b'));
        at(99_999, () => {
          shown = states.values.length;
          store.token = token;
          page.restore(false);
          expect(states.values).toHaveLength(shown);
        });
        at(100_000, () => {
          page.restore(true);
        });
        at(101_000, () => {
          if (leavesAt !== undefined && session.state !== 'active') void session.signIn();
        });
        at(103_000, () => {
          for (const { subscription } of [states, view]) subscription.unsubscribe();
        });
        flush();
        const [at0] = states.times;
        const later = states.times.slice(shown).map((time) => time - (at0 ?? NaN) - 100_000);
        return { states: states.values.slice((shown ?? 0) - 1), times: later, view, logins: signIn.mock.calls.length };
      });
    }

    it.each([false, true])('ends what a user had who has signed out, at once; expired: %s', (isExpired) => {
      const { states, times, view } = restoreWith(() => undefined, isExpired);
      expect([states, times]).toEqual([[isExpired ? 'expired' : 'active', 'signedOut'], [0]]);
      expect(view.error instanceof SignedOutError).toBe(true);
    });

    it.each<[string, SessionOptions['token']]>([
      ['an empty text', () => ''],
      ['null', () => null as never],
      ['an Observable of null', () => of<string | undefined>(null as never)],
    ])('ends it also where the app has %s in place of a token', (_, token) => {
      const { states, view } = restoreWith(token);
      expect(states).toEqual(['active', 'signedOut']);
      expect(view.error instanceof SignedOutError).toBe(true);
    });

    it('ends what a user had whom another one has replaced', () => {
      const tokenOf = (user: string): string => `header.${btoa(JSON.stringify({ sub: user }))}.signature`;
      const { states, view } = restoreWith(() => tokenOf('bob'), false, tokenOf('alice'));
      expect(states).toEqual(['active', 'signedOut', 'active']);
      expect(view.error instanceof SignedOutError).toBe(true);
    });

    describe('to which the user has gone back from the page of a login service', () => {
      const tokenOf = (user: string): string => `header.${btoa(JSON.stringify({ sub: user }))}.signature`;

      it('ends what the former user had if another one has signed in', () => {
        const { states, view } = restoreWith(() => tokenOf('bob'), true, tokenOf('alice'), 50_000);
        expect(states).toEqual(['signingIn', 'signedOut', 'active']);
        expect(view.error instanceof SignedOutError).toBe(true);
      });

      it('is signed out if nobody has signed in, so that the next sign-in is possible', () => {
        const { states, times, view, logins } = restoreWith(() => undefined, true, 'a', 50_000);
        expect([states, times[0], logins]).toEqual([['signingIn', 'signedOut', 'signingIn'], 0, 2]);
        expect(view.error instanceof SignedOutError).toBe(true);
      });

      it('is as before if the token is the one that was refused, and the next sign-in is possible', () => {
        const { states, view, logins } = restoreWith(() => 'a', true, 'a', 50_000);
        expect([states, view.error, logins]).toEqual([['signingIn', 'expired', 'signingIn'], undefined, 2]);
      });

      it('is as before if the token cannot be read, and the next sign-in is possible', () => {
        const unreachable = throwError(() => new Error('unreachable'));
        const { states, view, logins } = restoreWith(() => unreachable, true, 'a', 50_000);
        expect([states, view.error, logins]).toEqual([['signingIn', 'expired', 'signingIn'], undefined, 2]);
      });

      it('goes on with the token of the sign-in', () => {
        const { states, view } = restoreWith(() => 'b', true, 'a', 50_000);
        expect(states).toEqual(['signingIn', 'active']);
        expect(view.values.at(-1)).toBe('live/open 1 x');
      });
    });

    it('goes on with the token of a sign-in', () => {
      const { states, view } = restoreWith(() => 'b', true);
      expect(states).toEqual(['expired', 'active']);
      expect(view.values.at(-1)).toBe('live/open 1 x');
    });

    it.each<[string, () => string, boolean]>([
      ['the token is the same', () => 'a', false],
      ['the token is the one that was refused', () => 'a', true],
      [
        'there is no answer',
        () => {
          throw new Error('no network');
        },
        false,
      ],
    ])('is as before where %s', (_, token, isExpired) => {
      const { states, view } = restoreWith(token, isExpired);
      expect([states, view.error]).toEqual([[isExpired ? 'expired' : 'active'], undefined]);
    });
  });

  it('has a state for it', () => {
    const page = openPage();
    const session = ledgerSession({ token: () => 'a', name: newName() });
    const states = observe(session.state$);
    page.setOnline(false);
    page.setOnline(true);
    page.setOnline(false);
    expect(states.values).toEqual(['signedOut', 'active', 'offline', 'active', 'offline']);
    states.subscription.unsubscribe();
  });
});
