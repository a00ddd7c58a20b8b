import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { dehydrate, hydrate, QueryCache, QueryClient, QueryObserver } from '@tanstack/query-core';
import * as t from 'io-ts';
import { concat, NEVER, of, throwError } from 'rxjs';
import { contractType } from '../../src/codecs/TemplateType.js';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { ContractsTestingController } from '../../src/contracts/ContractsTestingController.js';
import type { LiveContracts } from '../../src/contracts/liveContracts.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { DecodeError } from '../../src/errors/feed.js';
import { contractsQuery } from '../../src/tanstack-query/index.js';
import { until } from '../helpers/time.js';
import { alice, bob, contract, ServerView } from '../sse/support.js';

const refusal = new ApiError({
  path: '/v2/updates/flats',
  status: 403,
  canton: { code: 'PERMISSION_DENIED', cause: 'refused', errorCategory: 7, context: {} },
});
const queryKey = ['contracts'];
const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string }));

const ids = (contracts: readonly AnyContract[] | undefined): string | undefined =>
  contracts?.map(({ contractId }) => contractId).join('');

const clients: QueryClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.clear();
});

/** A client, and the errors that it reports. */
function newClient() {
  const onError = jest.fn<(error: unknown) => void>();
  const client = new QueryClient({ queryCache: new QueryCache({ onError }) });
  clients.push(client);
  return { client, onError };
}

/** An observer of the contracts of a view, which keeps what it was shown. */
function observe<C extends AnyContract>(client: QueryClient, live: LiveContracts<C>) {
  const observer = new QueryObserver(client, contractsQuery(live, { queryKey }));
  const shown: string[] = [];
  const start = () =>
    observer.subscribe(({ status, data }) => {
      const text = [status, ids(data)].join(' ').trim();
      if (shown.at(-1) !== text) shown.push(text);
    });
  const showing = (text: string) => until(() => shown.at(-1) === text);
  return { observer, shown, start, showing, current: () => ids(observer.getCurrentResult().data) };
}

/** An observer of a view with a contract `x`, as soon as it is shown. */
async function observed() {
  const view = new ServerView();
  view.reset([contract('x')]);
  const { client, onError } = newClient();
  const seen = observe(client, view.live);
  const stop = seen.start();
  await seen.showing('success x');
  return { view, client, onError, stop, ...seen };
}

describe('contractsQuery', () => {
  it('resolves with the contracts when all are known', async () => {
    const contracts = new ContractsTestingController();
    contracts.hold();
    contracts.create(Iou, { owner: alice });
    const live = contracts.shared.view({ types: { iou: Iou }, parties: 'any' });
    const { client } = newClient();
    const reading = client.query(contractsQuery(live, { queryKey }));
    expect(client.isFetching()).toBe(1);
    contracts.create(Iou, { owner: bob });
    contracts.release();
    expect((await reading).map(({ payload }) => payload?.owner)).toEqual([alice, bob]);
  });

  it('shows each change, whole, and keeps what has not changed', async () => {
    const { view, showing, shown, observer } = await observed();
    const [before] = observer.getCurrentResult().data ?? [];
    view.change({ add: [contract('y'), contract('z')] });
    await showing('success xyz');
    expect(observer.getCurrentResult().data?.[0]).toBe(before);
    view.change({ remove: ['x'], add: [contract('w')] });
    await showing('success yzw');
    view.reset([contract('r')], 'ledgerReset');
    await showing('success r');
    expect(shown).toEqual(['pending', 'success x', 'success xyz', 'success yzw', 'success r']);
    expect(observer.getCurrentResult()).toMatchObject({ fetchStatus: 'idle', isStale: false });
  });

  it('sorts with compare', async () => {
    const view = new ServerView();
    view.reset([contract('a'), contract('c'), contract('b')]);
    const compare = (one: AnyContract, other: AnyContract): number => other.contractId.localeCompare(one.contractId);
    expect(ids(await newClient().client.query(contractsQuery(view.live, { queryKey, compare })))).toBe('cba');
  });

  it('shows the last of the changes that come before the first contracts are in the cache', async () => {
    const live = {
      parties: [alice],
      all$: () => concat(of([contract('x')], [contract('y')], [contract('z')]), NEVER),
    } as unknown as LiveContracts;
    const { start, observer, current } = observe(newClient().client, live);
    start();
    await until(() => observer.getCurrentResult().fetchStatus === 'idle');
    expect(current()).toBe('z');
  });

  it('fails with the error of the view, without retries', async () => {
    const view = new ServerView();
    const { client, onError } = newClient();
    const { observer, start, showing } = observe(client, view.live);
    start();
    view.fail(refusal);
    await showing('error');
    expect(observer.getCurrentResult()).toMatchObject({ error: refusal, failureCount: 1, fetchStatus: 'idle' });
    expect(onError).toHaveBeenCalledTimes(1);
  });

  it('fails when the view ends later, and shows its contracts no more', async () => {
    const { view, onError, observer, showing, shown } = await observed();
    view.fail(refusal);
    await showing('error');
    expect(observer.getCurrentResult()).toMatchObject({ error: refusal, data: undefined });
    expect(onError).toHaveBeenCalledTimes(1);
    expect(view.subscriptions).toBe(0);
    expect(shown).toEqual(['pending', 'success x', 'pending', 'error']);
  });

  it.each([
    ['refused', refusal, undefined],
    ['of another form', new DecodeError('/v2/updates/flats', []), 'x'],
  ])('fails when the view ends before its first contracts are in the cache: %s', async (_, error, kept) => {
    const live = {
      parties: [alice],
      all$: () =>
        concat(
          of([contract('x')]),
          throwError(() => error),
        ),
    } as unknown as LiveContracts;
    const { client, onError } = newClient();
    const { start, showing, observer, current } = observe(client, live);
    start();
    await showing(['error', kept].join(' ').trim());
    expect(observer.getCurrentResult()).toMatchObject({ error, fetchStatus: 'idle' });
    expect([current(), onError.mock.calls.length]).toEqual([kept, 1]);
  });

  it('shows the next observer no contracts any more if the user may not read them', async () => {
    const contracts = new ContractsTestingController();
    contracts.create(Iou, { owner: alice });
    const live = contracts.shared.view({ parties: 'any' });
    const { client } = newClient();
    await client.query(contractsQuery(live, { queryKey }));
    contracts.refuse();
    const { observer, start, showing } = observe(client, live);
    start();
    await showing('error');
    expect(observer.getCurrentResult().error).toMatchObject({ _tag: 'ApiError', status: 403 });
  });

  it('begins again with a refetch after an error', async () => {
    const { view, observer, showing } = await observed();
    view.fail(refusal);
    await showing('error');
    void observer.refetch();
    await showing('success x');
    view.change({ add: [contract('y')] });
    await showing('success xy');
  });

  it('keeps the contracts before an update that does not decode', async () => {
    const { view, observer, showing } = await observed();
    const error = new DecodeError('/v2/updates/flats', []);
    view.fail(error);
    await showing('error x');
    expect(observer.getCurrentResult().error).toBe(error);
  });

  it('ends with its last observer, and shows the next one the former contracts until it has read them again', async () => {
    const { view, client, stop } = await observed();
    const other = observe(client, view.live);
    const stopOther = other.start();
    stop();
    view.change({ add: [contract('y')] });
    await other.showing('success xy');
    expect(view.subscriptions).toBe(1);
    stopOther();
    expect(view.subscriptions).toBe(0);
    view.change({ add: [contract('z')] });
    const next = observe(client, view.live);
    next.start();
    expect(next.current()).toBe('xy');
    expect(next.observer.getCurrentResult().fetchStatus).toBe('fetching');
    await next.showing('success xyz');
    expect(view.subscriptions).toBe(1);
  });

  it('is subscribed once however often it is observed, also as StrictMode does', async () => {
    const view = new ServerView();
    const { client } = newClient();
    const [one, other] = [observe(client, view.live), observe(client, view.live)];
    one.start()();
    other.start()();
    expect(view.subscriptions).toBe(0);
    one.start();
    other.start();
    view.reset([contract('x')]);
    await one.showing('success x');
    await other.showing('success x');
    expect(view.subscriptions).toBe(1);
  });

  it.each<[string, (client: QueryClient, stop: () => void) => unknown]>([
    [
      'its observer leaves',
      (_, stop) => {
        stop();
      },
    ],
    ['it is cancelled', (client) => client.cancelQueries({ queryKey })],
    [
      'the cache is cleared',
      (client) => {
        client.clear();
      },
    ],
  ])('ends before the contracts are known when %s', async (_, end) => {
    const view = new ServerView();
    const { client, onError } = newClient();
    const stop = observe(client, view.live).start();
    expect(view.subscriptions).toBe(1);
    await end(client, stop);
    expect(view.subscriptions).toBe(0);
    expect(onError).not.toHaveBeenCalled();
  });

  it.each<[string, (seen: Awaited<ReturnType<typeof observed>>) => void]>([
    [
      'is removed',
      ({ client }) => {
        client.removeQueries({ queryKey });
      },
    ],
    [
      'is disabled',
      ({ observer }) => {
        observer.setOptions({ ...observer.options, enabled: false });
      },
    ],
  ])('ends when it %s', async (_, end) => {
    const seen = await observed();
    end(seen);
    expect(seen.view.subscriptions).toBe(0);
    seen.view.change({ add: [contract('y')] });
    expect(seen.client.getQueryData(contractsQuery(seen.view.live, { queryKey }).queryKey)).toEqual(
      seen.client.getQueryCache().getAll().length === 0 ? undefined : [contract('x')],
    );
  });

  it('follows the contracts again with a refetch after it was removed', async () => {
    const { view, client, observer, showing } = await observed();
    const [removed] = client.getQueryCache().getAll();
    client.clear();
    view.change({ add: [contract('y')] });
    expect(ids((await removed?.fetch()) as readonly AnyContract[])).toBe('xy');
    expect(view.subscriptions).toBe(0);
    void observer.refetch();
    await showing('success xy');
    expect(view.subscriptions).toBe(1);
  });

  it('follows the contracts again when it is enabled', async () => {
    const { view, observer, showing } = await observed();
    observer.setOptions({ ...observer.options, enabled: false });
    view.change({ add: [contract('y')] });
    observer.setOptions({ ...observer.options, enabled: true });
    await showing('success xy');
    expect(view.subscriptions).toBe(1);
  });

  it('never shows the contracts of the former user', async () => {
    const [ofAlice, ofBob] = [new ServerView([alice]), new ServerView([bob])];
    ofAlice.reset([contract('x')]);
    const { observer, shown, start, showing, current } = observe(newClient().client, ofAlice.live);
    start();
    await showing('success x');
    // the caller forgets the user in the key
    observer.setOptions(contractsQuery(ofBob.live, { queryKey }));
    expect(current()).toBeUndefined();
    expect(ofAlice.subscriptions).toBe(0);
    ofAlice.change({ add: [contract('y')] });
    ofBob.reset([contract('b', [bob])]);
    await showing('success b');
    expect(shown).toEqual(['pending', 'success x', 'pending', 'success b']);
  });

  it('reads the contracts once where nothing observes them, as on a server', async () => {
    const view = new ServerView();
    view.reset([contract('x')]);
    const { client } = newClient();
    const options = contractsQuery(view.live, { queryKey });
    await client.query(options);
    expect(view.subscriptions).toBe(0);
    view.change({ add: [contract('y')] });
    expect(ids(await client.query({ ...options, staleTime: 'static' }))).toBe('x');
    expect(ids(await client.query(options))).toBe('xy');
  });

  it('follows what a server has read, or a page has stored', async () => {
    const { view, client: server } = await observed();
    const { client } = newClient();
    hydrate(client, JSON.parse(JSON.stringify(dehydrate(server))) as object);
    const { start, showing, current } = observe(client, view.live);
    expect(current()).toBe('x');
    start();
    expect(current()).toBe('x');
    await until(() => view.subscriptions === 2);
    view.change({ add: [contract('y')] });
    await showing('success xy');
  });

  it('reads nothing at a refetch of contracts that it follows, and follows them also when that is cancelled', async () => {
    const { view, client, observer, showing } = await observed();
    const { data } = await observer.refetch();
    expect(ids(data)).toBe('x');
    void observer.refetch();
    view.change({ add: [contract('y')] });
    await showing('success xy');
    void observer.refetch();
    view.change({ add: [contract('z')] });
    await client.cancelQueries({ queryKey });
    await showing('success xyz');
    expect(view.subscriptions).toBe(1);
  });

  it('shows the error of a view that ends while it is refetched', async () => {
    const { view, observer, showing } = await observed();
    void observer.refetch();
    view.fail(refusal);
    await showing('error');
    expect(observer.getCurrentResult()).toMatchObject({ error: refusal, data: undefined, fetchStatus: 'idle' });
  });

  it('names the parties in its key', () => {
    const ofParties = (parties: readonly string[] | 'any') =>
      contractsQuery(new ServerView(parties).live, { queryKey }).queryKey;
    expect([ofParties([alice]), ofParties('any')]).toEqual([
      ['contracts', { parties: [alice] }],
      ['contracts', { parties: 'any' }],
    ]);
    const live = { ...new ServerView().live, parties: undefined };
    expect(contractsQuery(live, { queryKey }).queryKey).toEqual(['contracts']);
  });
});
