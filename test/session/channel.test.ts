import { afterEach, expect, it } from '@jest/globals';
import { EMPTY, map } from 'rxjs';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import { ledgerSession, SignedOutError } from '../../src/session/index.js';
import { briefState } from '../contracts/brief.js';
import { create, marbles as query } from '../contracts/joinSupport.js';
import { observe } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { contractsWorld } from '../helpers/virtualContracts.js';

const before = Object.getOwnPropertyDescriptor(globalThis, 'BroadcastChannel') ?? {};
afterEach(() => {
  Object.defineProperty(globalThis, 'BroadcastChannel', before);
});

/** As in Firefox while the user allows a page no storage. */
function RefusedChannel(): never {
  throw new DOMException('The operation is insecure.', 'SecurityError');
}

it.each([
  ['there are no channels', undefined],
  ['the browser refuses channels', RefusedChannel],
])('a session serves its own tab where %s', async (_, value) => {
  Object.defineProperty(globalThis, 'BroadcastChannel', { value, configurable: true });
  const store: { token: string | undefined } = { token: undefined };
  const session = ledgerSession({
    token: () => store.token,
    signIn: () => {
      store.token = 'a';
      return EMPTY;
    },
    signOut: () => {
      store.token = undefined;
      return EMPTY;
    },
  });
  const { client, participant } = contractsWorld({
    latencyMs: 1,
    client: { token: session.token, interceptors: [session] },
  });
  participant.append(create(1, 'x'));
  const states = observe(session.state$);
  const view = observe(liveContracts(client, { ...query }).state$.pipe(map(briefState)));
  expect(await session.signIn()).toBe('active');
  await until(() => view.values.at(-1) === 'live/open 1 x');
  expect(await session.signOut()).toEqual([]);
  expect([states.values, states.error, store.token]).toEqual([
    ['signedOut', 'signingIn', 'active', 'signedOut'],
    undefined,
    undefined,
  ]);
  expect(view.error instanceof SignedOutError).toBe(true);
  states.subscription.unsubscribe();
});
