import { afterEach, describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { BehaviorSubject, map } from 'rxjs';
import { contractType } from '../../src/index.js';
import { contractsFor } from '../../src/contracts/contractsFor.js';
import type { LiveContracts } from '../../src/contracts/liveContracts.js';
import type { ConnectionError } from '../../src/errors/request.js';
import {
  remoteContracts,
  type RemoteOptions,
  shareRemoteContracts,
  toServerSentEvents,
  WireVersionError,
} from '../../src/sse/index.js';
import { eventBytes } from '../../src/sse/ServerSentEvent.js';
import { brief, briefState } from '../contracts/brief.js';
import { observe, type Observed } from '../helpers/observe.js';
import { stopClock } from '../helpers/time.js';
import { AppServer, settle, url } from './remoteSupport.js';
import { alice, bob, briefEvent, cancelAll, contract, idOf, ServerView, StreamReader } from './support.js';

const retry = { baseDelayMs: 10, maxDelayMs: 10 };

/** A server, and a page that shows its contracts. */
function world(options: RemoteOptions = {}, query: Parameters<typeof remoteContracts>[1] = {}) {
  const view = new ServerView();
  const server = new AppServer(view.live);
  const remote = remoteContracts(url, query, { fetch: server.fetch, retry, ...options });
  return { view, server, remote };
}

const opened: Observed<unknown>[] = [];
const watch = <A>(...[source$]: Parameters<typeof observe<A>>): Observed<A> => {
  const observed = observe(source$);
  opened.push(observed);
  return observed;
};
afterEach(async () => {
  for (const { subscription } of opened.splice(0)) subscription.unsubscribe();
  await cancelAll();
  await settle(3);
});

const statesOf = ({ state$ }: LiveContracts): Observed<string> => watch(state$.pipe(map(briefState)));
const changesOf = ({ changes$ }: LiveContracts): Observed<string> => watch(changes$.pipe(map(brief)));

describe('remoteContracts', () => {
  it('is a live view: states, changes, selections and offsets', async () => {
    const { view, remote, server } = world();
    const [states, changes] = [statesOf(remote), changesOf(remote)];
    const big = watch(remote.select$(({ contractId }) => contractId > 'b').pipe(map((all) => all.length)));
    const [b, count] = [watch(remote.byId$('b').pipe(map((found) => found?.location))), watch(remote.count$())];
    const reached = watch(remote.atOffset(3));
    await settle();
    view.reset([contract('a'), contract('b')]);
    await settle();
    view.change({ add: [contract('c', [alice], { offset: 2 })], remove: ['a'] });
    await settle();
    view.change({ move: ['b'] });
    view.catchUp(false);
    await settle();
    expect(changes.values).toEqual([
      'Reset 1 start a,b',
      'CaughtUp 1',
      'ContractsChanged 2 +c -a',
      'ContractsChanged 3 ~b',
      'FellBehind 3',
    ]);
    expect(states.values[0]).toBe('loading/connecting');
    expect(states.values.slice(-3)).toEqual(['live/open 2 bc', 'live/open 3 bc', 'stale/open 3 bc']);
    expect([big.values, count.values, reached.values]).toEqual([[0, 1], [2], [3]]);
    expect(b.values).toEqual([{ synchronizerId: 'sync-a::1220ab' }, { synchronizerId: 'sync-b::1220ab' }]);
    expect(server.requests).toMatchObject([{ url, lastEventId: null, authorization: null }]);
  });

  it('has the same contracts and changes as the view of the server', async () => {
    const { view, remote } = world();
    const [here, there] = [watch(remote.changes$), watch(view.live.changes$)];
    view.reset([contract('a', [alice, bob]), contract('b')]);
    await settle();
    view.change({ add: [contract('c', [bob], { offset: 2 })], remove: ['a'] });
    view.change({ move: ['b', 'c'] });
    view.checkpoint();
    await settle();
    expect(here.values).toEqual(there.values);
    expect(here.values).toHaveLength(5);
  });

  it('continues where a connection was cut, and is stale in the meantime', async () => {
    const { advance } = stopClock();
    const { view, server, remote } = world();
    const [states, changes] = [statesOf(remote), changesOf(remote)];
    const second = new AppServer(view.live);
    const other = watch(remoteContracts(url, {}, { fetch: second.fetch }).state$);
    view.reset([contract('a')]);
    await settle();
    const before = watch(remote.byId$('a'));
    server.cut();
    await settle();
    view.change({ add: [contract('b', [alice], { offset: 2 })] });
    expect(states.values.at(-1)).toBe('stale/retrying 1 a');
    await advance(10);
    await settle();
    expect(states.values.slice(-2)).toEqual(['stale/open 2 ab', 'live/open 2 ab']);
    expect(changes.values).toEqual([
      'Reset 1 start a',
      'CaughtUp 1',
      'ContractsChanged 2 +b',
      'FellBehind 2',
      'CaughtUp 2',
    ]);
    expect(server.requests[1]?.lastEventId).toMatch(/^[0-9a-f]{32}-2$/);
    expect([before.values.length, other.error]).toEqual([1, undefined]);
  });

  it('starts over if the server does not hold what it has missed, with the same objects', async () => {
    const { advance } = stopClock();
    const { view, server, remote } = world();
    const [states, changes] = [statesOf(remote), changesOf(remote)];
    const [a, b] = [watch(remote.byId$('a')), watch(remote.byId$('b'))];
    view.reset([contract('a'), contract('b')]);
    await settle();
    server.cut();
    await settle();
    expect(view.subscriptions).toBe(0);
    view.change({ add: [contract('c', [alice], { offset: 2 })], move: ['b'] });
    await advance(10);
    await settle();
    expect(states.values.at(-1)).toBe('live/open 2 abc');
    expect(changes.values.at(-1)).toBe('Reset 2 start a,b,c');
    expect(a.values).toHaveLength(1);
    expect(b.values).toHaveLength(2);
    view.reset([contract('a', [alice], { offset: 7 })], 'ledgerReset', 8);
    await settle();
    expect(a.values.at(-1)?.offset).toBe(7);
  });

  it('connects again when nothing comes, and when the server ends the stream', async () => {
    const { advance } = stopClock();
    const { view, server, remote } = world({ idleTimeoutMs: 100, retry: { ...retry, baseDelayMs: 1 } });
    const states = watch(remote.state$);
    view.reset([contract('a')]);
    await settle();
    await advance(99);
    expect(server.requests).toHaveLength(1);
    await advance(1);
    await settle();
    expect(states.values.at(-1)).toMatchObject({
      data: 'stale',
      connection: { status: 'retrying', cause: { _tag: 'RequestTimeoutError', afterMs: 100 } },
    });
    expect(server.requests[0]?.isAborted()).toBe(true);
    await advance(10);
    await settle();
    expect(server.requests).toHaveLength(2);
    view.end();
    await settle();
    expect(states.values.at(-1)).toMatchObject({
      connection: { cause: { _tag: 'ConnectionError', reason: 'the stream of events ended' } },
    });
    await advance(499);
    expect(server.requests).toHaveLength(2);
    await advance(1_001);
    await settle();
    expect(server.requests.length).toBeGreaterThan(2);
  });

  it('waits longer each time while the server accepts requests and sends nothing', async () => {
    const { advance } = stopClock();
    const { server, remote } = world({ retry: { baseDelayMs: 1_000, maxDelayMs: 60_000 } });
    server.answer = () => new Response(':\n\n', { headers: { 'content-type': 'text/event-stream' } });
    const states = statesOf(remote);
    await settle();
    for (let second = 0; second < 600; second += 1) {
      await advance(1_000);
      await settle(2);
    }
    expect(server.requests.length).toBeLessThan(60);
    expect(server.requests.length).toBeGreaterThan(8);
    // without a limit of time
    expect(states.error).toBeUndefined();
  });

  it('reports a failure of the view of the server as an outage', async () => {
    const { advance } = stopClock();
    const { view, remote } = world();
    const states = watch(remote.state$);
    view.reset([contract('a')]);
    await settle();
    view.fail(new TypeError('secret'));
    await settle();
    const last = states.values.at(-1);
    expect(last).toMatchObject({ data: 'stale', connection: { status: 'retrying' } });
    expect(last?.connection).toMatchObject({ cause: { reason: 'the view of the server failed with TypeError' } });
    await advance(2_000);
    await settle();
    expect(states.values.at(-1)).toMatchObject({ data: 'live' });
  });

  it('sends the token, and calls its function again when it is refused', async () => {
    stopClock();
    const refusals: (string | undefined)[] = [];
    const token = (refused?: string): string => {
      refusals.push(refused);
      return refused === undefined ? 'old' : 'new';
    };
    const { view, server, remote } = world({ token, headers: { 'x-tenant': 'blue' } });
    server.answer = ({ headers }) =>
      headers.get('authorization') === 'Bearer new' && headers.get('x-tenant') === 'blue'
        ? undefined
        : new Response('', { status: 401 });
    const states = statesOf(remote);
    view.reset([contract('a')]);
    await settle();
    expect(states.values.at(-1)).toBe('live/open 1 a');
    expect(refusals).toEqual([undefined, 'old']);
    expect(server.requests.map(({ authorization }) => authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it.each([
    [401, { token: 'constant' }, { _tag: 'UnauthorizedError' }],
    [401, {}, { _tag: 'UnauthorizedError' }],
    [403, { token: 'opaque' }, { _tag: 'ApiError', status: 403 }],
    [403, {}, { _tag: 'ApiError', status: 403 }],
    [404, {}, { _tag: 'ApiError', status: 404 }],
    [302, {}, { _tag: 'ApiError', status: 302 }],
  ])('ends with an error for %i with %j', async (status, options, error) => {
    const { server, remote } = world(options);
    server.answer = () => new Response(null, { status, headers: { location: 'https://login.example/?secret' } });
    const states = watch(remote.state$);
    await settle();
    expect(states.error).toMatchObject(error);
    expect(String(states.error)).toContain('app.example');
    expect(String(states.error)).not.toMatch(/secret|constant|opaque/);
    // it can be subscribed to again
    server.answer = () => undefined;
    const again = statesOf(remote);
    await settle();
    expect(again.error).toBeUndefined();
  });

  it('ends when the user loses the right, and retries other answers after the first events', async () => {
    const { advance } = stopClock();
    const { view, server, remote } = world();
    const states = watch(remote.state$);
    view.reset([contract('a')]);
    await settle();
    for (const status of [404, 500, 502, 503, 429]) {
      server.answer = () => new Response('<html>', { status });
      server.cut();
      await advance(10);
      await settle();
      expect(states.values.at(-1)).toMatchObject({
        data: 'stale',
        connection: { cause: { _tag: 'ApiError', status } },
      });
      server.answer = () => undefined;
      await advance(20);
      await settle();
      expect(states.values.at(-1)).toMatchObject({ data: 'live' });
    }
    server.answer = () => new Response('', { status: 403 });
    server.cut();
    await advance(10);
    await settle();
    expect(states.error).toMatchObject({ _tag: 'ApiError', status: 403 });
  });

  it.each([
    ['text/html', 200],
    ['application/json', 200],
    ['text/event-streams', 200],
  ])('ends if the address is not that of a stream but of %s', async (type, status) => {
    const { server, remote } = world();
    server.answer = () => new Response('<html>', { status, headers: { 'content-type': type } });
    const states = watch(remote.state$);
    await settle();
    expect(states.error).toMatchObject({ _tag: 'ConnectionError', isPermanent: true });
  });

  it('waits as long as the server requests', async () => {
    const { advance } = stopClock();
    const { server, remote } = world();
    server.answer = () => new Response('', { status: 503, headers: { 'retry-after': '7' } });
    statesOf(remote);
    await settle();
    await advance(6_999);
    expect(server.requests).toHaveLength(1);
    await advance(1);
    await settle();
    expect(server.requests).toHaveLength(2);
  });

  it('gives up after a time, if the policy says so', async () => {
    const { advance } = stopClock();
    const { server, remote } = world({ retry: { ...retry, giveUpAfterMs: 100 } });
    server.answer = () => Promise.reject(new TypeError('fetch failed'));
    const states = watch(remote.state$);
    await settle();
    for (let step = 0; step < 30; step += 1) {
      await advance(10);
      await settle(2);
    }
    expect(states.error).toMatchObject({ _tag: 'ConnectionError' });
    expect((states.error as ConnectionError).retried?.forMs).toBeCloseTo(100, -1);
  });

  it('refuses another version of the events with a sentence', async () => {
    for (const [version, who] of [
      [2, 'the page'],
      [0, 'the server'],
    ] as const) {
      const { server, remote } = world();
      const reset = eventBytes({ event: 'reset', id: 'x-1', data: JSON.stringify({ version, contracts: 'other' }) });
      server.answer = () => new Response(Buffer.from(reset), { headers: { 'content-type': 'text/event-stream' } });
      const states = watch(remote.state$);
      await settle();
      expect(states.error).toBeInstanceOf(WireVersionError);
      expect((states.error as WireVersionError).summary).toContain('Load the page again.');
      expect((states.error as Error).message).toBe(
        `The server sends version ${version} of its events, and only 1 can be read.\nPath: /contracts\nNext: update canton-rx in ${who}`,
      );
    }
  });

  it.each([
    ['not JSON', { event: 'reset', data: '{"secret' }],
    ['no reset', { event: 'reset', data: '{"version":1,"offset":"secret"}' }],
    ['a change before all contracts', { event: 'changed', data: '{"offset":1,"added":[],"removed":[],"moved":[]}' }],
  ])('ends with a DecodeError for %s, without the value', async (_name, event) => {
    const { server, remote } = world();
    const bytes = Buffer.from(eventBytes({ id: '1', ...event }));
    server.answer = () => new Response(bytes, { headers: { 'content-type': 'text/event-stream' } });
    const states = watch(remote.state$);
    await settle();
    expect(states.error).toMatchObject({ _tag: 'DecodeError', path: '/contracts' });
    expect(String(states.error)).not.toContain('secret');
  });

  it('ignores events that it does not know', async () => {
    const { view, server, remote } = world();
    const { body, headers } = await server.fetch(new Request(url));
    const reader = body?.getReader();
    const more = Buffer.from(eventBytes({ event: 'toString', id: 'y', data: 'of a later release' }));
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue(more);
      },
      pull: async (controller) => {
        const { value } = (await reader?.read()) ?? {};
        controller.enqueue(value);
      },
    });
    server.answer = () => new Response(stream, { headers });
    const states = statesOf(remote);
    view.reset([contract('a')]);
    await settle();
    expect(states.values.at(-1)).toBe('live/open 1 a');
    server.cut();
  });

  it('limits the size of an event', async () => {
    const { view, remote } = world({ maxEventLength: 5_000 });
    const states = watch(remote.state$);
    view.reset([contract('a')]);
    await settle();
    expect(states.values.at(-1)).toMatchObject({ data: 'live' });
    view.change({ add: [contract('b', [alice], { payload: 'x'.repeat(6_000) })] });
    await settle();
    expect(states.error).toMatchObject({ _tag: 'ResponseTooLargeError' });
  });

  it('decodes payloads by the types of the query, and leaves out other contracts', async () => {
    const Marble = contractType('#marbles:Marbles:Marble', t.type({ payload: t.string }));
    const Other = contractType('#marbles:Marbles:Other', t.unknown);
    const { view, server, remote } = world({}, { types: { marble: Marble } });
    const options = { fetch: server.fetch };
    const [all, others] = [remote, remoteContracts(url, { types: { other: Other } }, options)].map((each) =>
      watch(each.all$()),
    );
    const changes = changesOf(remoteContracts(url, { types: { other: Other } }, options));
    const strict = watch(remoteContracts(url, { types: { marble: Marble }, onUndecodable: 'fail' }, options).state$);
    await settle();
    view.reset([contract('a'), contract('b', [alice], { payload: 7 })]);
    await settle();
    expect(all?.values.at(-1)).toMatchObject([
      { _tag: 'Contract', type: 'marble', payload: { payload: 'secret of a.' } },
      { _tag: 'UndecodedContract', expectedType: 'marble' },
    ]);
    expect(others?.values).toEqual([[]]);
    expect(strict.error).toMatchObject({
      _tag: 'DecodeError',
      problems: [{ path: 'createArgument.payload', expected: 'string' }],
    });
    view.change({ add: [contract('c', [alice], { offset: 2 })] });
    await settle();
    expect(changes.values).toEqual(['Reset 1 start', 'CaughtUp 1', 'OffsetCheckpoint 2']);
  });

  it('says that the parties of the server have changed, also if no contract of its types did', async () => {
    const server = new ServerView();
    const parties$ = new BehaviorSubject([alice, bob]);
    const app = new AppServer(contractsFor(server.live, parties$));
    const Marble = contractType('#marbles:Marbles:Marble', t.type({ payload: t.string }));
    const remote = remoteContracts(url, { types: { marble: Marble } }, { fetch: app.fetch });
    const changes = changesOf(remote);
    // a server that sends on what it has received
    const reader = new StreamReader(toServerSentEvents(remote.changes$));
    const begun = reader.texts(1);
    await settle();
    server.reset([contract('a')]);
    const lastEventId = idOf((await begun)[0]);
    await settle();
    const b = contract('b', [bob], { offset: 2 });
    const createdEvent = { ...b.createdEvent, templateId: '1220aaaa:Marbles:Other' };
    server.change({ add: [{ ...b, createdEvent }, contract('c', [alice], { offset: 2 })] });
    await settle();
    parties$.next([alice]);
    await settle();
    const all = ['Reset 1 start a', 'CaughtUp 1', 'ContractsChanged 2 +c', 'ContractsChanged 2 selectionChanged'];
    expect(changes.values).toEqual(all);
    const resumed = await new StreamReader(toServerSentEvents(remote.changes$, { lastEventId })).texts(1);
    expect(resumed.map(briefEvent)).toEqual(['reset 2 start a,c']);
  });

  it('shows what the given parties see, of what the server sends', async () => {
    const { view, remote } = world({}, { parties: [bob] });
    const all = watch(remote.all$());
    view.reset([contract('a'), contract('b', [bob]), contract('ab', [alice, bob])]);
    await settle();
    expect(all.values.at(-1)?.map(({ contractId }) => contractId)).toEqual(['b', 'ab']);
  });

  it('connects once for all subscriptions, and aborts the request with the last', async () => {
    const { view, server, remote } = world();
    const [one, two] = [statesOf(remote), changesOf(remote)];
    view.reset([contract('a')]);
    await settle();
    expect(server.requests).toHaveLength(1);
    one.subscription.unsubscribe();
    await settle();
    expect([server.requests[0]?.isAborted(), view.subscriptions]).toEqual([false, 1]);
    two.subscription.unsubscribe();
    await settle();
    expect([server.requests[0]?.isAborted(), view.subscriptions]).toEqual([true, 0]);
  });

  it.each(['before it answers', 'while it sends'])(
    'cancels a response whose fetch does not know the signal, %s',
    async (moment) => {
      let canceled = 0;
      const body = new ReadableStream({
        cancel: () => {
          canceled += 1;
        },
      });
      let answer: (response: Response) => void = () => undefined;
      const answered = new Promise<Response>((resolve) => {
        answer = resolve;
      });
      const { subscription } = watch(remoteContracts(url, {}, { fetch: () => answered, retry }).state$);
      const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      if (moment === 'while it sends') answer(response);
      await settle();
      subscription.unsubscribe();
      answer(response);
      await settle();
      expect(canceled).toBe(1);
    },
  );

  it('throws for an invalid address or option', () => {
    expect(() => remoteContracts('/contracts')).toThrow(
      new TypeError('url must be an absolute http(s) URL; in a browser, it may be relative'),
    );
    expect(() => remoteContracts(url, {}, { idleTimeoutMs: 0 })).toThrow(TypeError);
    expect(() => remoteContracts(url, {}, { maxEventLength: 0.5 })).toThrow(TypeError);
    expect(() => remoteContracts(url, {}, { retry: { baseDelayMs: -1 } })).toThrow(TypeError);
    expect(() => remoteContracts(new URL(url))).not.toThrow();
    const refused = new TypeError('headers contains an invalid name or value');
    expect(() => remoteContracts(url, {}, { headers: { 'x-tenant': 'SECRET\nx' } })).toThrow(refused);
    const absent = new TypeError('headers: x-tenant has no value');
    expect(() => remoteContracts(url, {}, { headers: { 'x-tenant': undefined as never } })).toThrow(absent);
  });

  it('sends a header of the same name in place of the token, however it is written', async () => {
    const { remote, server } = world({ token: 'a', headers: { Authorization: 'Basic b' } });
    watch(remote.count$());
    await settle();
    expect(server.requests).toMatchObject([{ authorization: 'Basic b' }]);
  });
});

describe('shareRemoteContracts', () => {
  it('shares one connection for equal queries, at the address of each', async () => {
    const view = new ServerView();
    const server = new AppServer(view.live);
    const addressOf = ({ parties }: { readonly parties?: unknown }) => `https://app.example/${String(parties)}`;
    const shared = shareRemoteContracts(addressOf, { fetch: server.fetch, keepMs: 0 });
    const views = [[alice], [alice], [bob]].map((parties) => statesOf(shared.view({ parties })));
    view.reset([contract('a', [alice, bob])]);
    await settle();
    expect(views.map(({ values }) => values.at(-1))).toEqual(views.map(() => 'live/open 1 a'));
    expect(server.requests.map((request) => request.url)).toEqual([
      `https://app.example/${alice}`,
      `https://app.example/${bob}`,
    ]);
    shared.clear();
  });

  it('shows everything that the server sends if a query names no parties', async () => {
    const view = new ServerView();
    const shared = shareRemoteContracts(url, { fetch: new AppServer(view.live).fetch, keepMs: 0 });
    const states = statesOf(shared.view({ parties: [] }));
    view.reset([contract('a'), contract('b', [bob])]);
    await settle();
    expect(states.values.at(-1)).toBe('live/open 1 ab');
  });
});
