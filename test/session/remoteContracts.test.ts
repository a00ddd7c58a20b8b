import { afterEach, describe, expect, it } from '@jest/globals';
import { map, tap, timer } from 'rxjs';
import { ledgerSession, SignedOutError } from '../../src/session/index.js';
import { remoteContracts, shareRemoteContracts } from '../../src/sse/index.js';
import { briefState } from '../contracts/brief.js';
import { observe, type Observed } from '../helpers/observe.js';
import { stopClock } from '../helpers/time.js';
import { AppServer, settle, url } from '../sse/remoteSupport.js';
import { contract, ServerView } from '../sse/support.js';
import { LocalChannel } from './channels.js';

Object.defineProperty(globalThis, 'BroadcastChannel', { value: LocalChannel, configurable: true });

const tokenOf = (user: string): string => `header.${btoa(JSON.stringify({ sub: user }))}.signature`;

let names = 0;

/** A page whose user signs in within a second, and a server that sends each user a contract of their own. */
function world() {
  const { advance } = stopClock();
  const store: { token: string | undefined; next: string } = { token: tokenOf('alice'), next: tokenOf('bob') };
  const name = `remote ${(names += 1)}`;
  const session = ledgerSession({
    token: () => store.token,
    signIn: () => timer(1_000).pipe(tap(() => (store.token = store.next))),
    signOut: () => {
      store.token = undefined;
      return [];
    },
    name,
  });
  const views = new Map(['alice', 'bob'].map((user) => [user, new ServerView()]));
  for (const [user, view] of views) view.reset([contract(user)]);
  const server = new AppServer(new ServerView().live);
  // each connection has the view of its user
  const fetch: typeof globalThis.fetch = (input) => {
    const authorization = (input as Request).headers.get('authorization') ?? '';
    for (const [user, view] of views) if (authorization.endsWith(tokenOf(user))) server.live = view.live;
    return server.fetch(input);
  };
  const options = { fetch, token: session.token, retry: { baseDelayMs: 10, maxDelayMs: 10 } };
  return { advance, store, session, server, options, name };
}

const opened: Observed<unknown>[] = [];
const statesOf = ({ state$ }: Pick<ReturnType<typeof remoteContracts>, 'state$'>): Observed<string> => {
  const observed = observe(state$.pipe(map(briefState)));
  opened.push(observed);
  return observed;
};
afterEach(async () => {
  for (const { subscription } of opened.splice(0)) subscription.unsubscribe();
  await settle(3);
});

describe.each(['remoteContracts', 'shareRemoteContracts'] as const)('%s with the token of a session', (kind) => {
  const open = (options: ReturnType<typeof world>['options']) => {
    const shared = shareRemoteContracts(url, { ...options, keepMs: 0 });
    return kind === 'remoteContracts' ? remoteContracts(url, {}, options) : shared.view({ parties: [] });
  };

  it.each(['this tab', 'another tab'])(
    'ends when the user signs out in %s, and begins again with the next one',
    async (where) => {
      const { advance, session, server, options, name } = world();
      const view = open(options);
      const first = statesOf(view);
      await settle();
      expect(first.values.at(-1)).toMatch(/alice$/);
      if (where === 'this tab') await session.signOut();
      const other = new LocalChannel(name);
      if (where === 'another tab') other.postMessage('signedOut');
      await advance(1);
      expect(first.error instanceof SignedOutError).toBe(true);
      expect(server.requests.map(({ isAborted }) => isAborted())).toEqual([true]);
      const between = statesOf(view);
      expect([between.error instanceof SignedOutError, server.requests.length]).toEqual([true, 1]);
      void session.signIn();
      const during = statesOf(view);
      await settle();
      expect([during.values, server.requests.length]).toEqual([['loading/connecting'], 1]);
      await advance(1_000);
      await settle();
      expect(during.values.at(-1)).toMatch(/bob$/);
      expect(during.values.join()).not.toMatch(/alice/);
      other.close();
    },
  );

  it('ends when another user is there, and sends nothing with the token of that one', async () => {
    const { advance, store, session, server, options } = world();
    const states = observe(session.state$);
    opened.push(states);
    const view = open(options);
    const first = statesOf(view);
    await settle();
    store.token = tokenOf('bob');
    server.cut();
    await settle();
    await advance(10);
    await settle();
    expect(first.error instanceof SignedOutError).toBe(true);
    expect(server.requests).toHaveLength(1);
    await advance(100);
    expect(states.values).toEqual(['signedOut', 'active', 'signedOut', 'active']);
    const second = statesOf(view);
    await settle();
    expect(second.values.at(-1)).toMatch(/bob$/);
  });
});
