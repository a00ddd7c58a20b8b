/** @jest-environment-options {"globalsCleanup":"off"} */
// the page is a global, which Jest would delete while React still uses it
import { beforeAll, expect, it } from '@jest/globals';
import type * as ReactDb from '@tanstack/react-db';
import type * as ReactQuery from '@tanstack/react-query';
import type { FunctionComponent } from 'react';
import { contractsCollection } from '../../src/tanstack-db/index.js';
import { contractsQuery } from '../../src/tanstack-query/index.js';
import { type Loaded, loadReact } from '../react/loadReact.js';
import { bob, contract, ServerView } from '../sse/support.js';

let react: Loaded['react'];
let loaded: Loaded;
let query: typeof ReactQuery;
let db: typeof ReactDb;
beforeAll(async () => {
  loaded = await loadReact('react', 'react-dom');
  ({ react } = loaded);
  query = await import('@tanstack/react-query');
  db = await import('@tanstack/react-db');
});

const text = (contracts: readonly { readonly contractId: string }[] | undefined): string =>
  contracts?.map(({ contractId }) => contractId).join('') ?? 'waits';

/** Shows the contracts of a view by a query, as soon as they are known. */
async function showQuery(useContractIds: (options: ReturnType<typeof contractsQuery>) => string) {
  const view = new ServerView();
  const client = new query.QueryClient();
  const Ids: FunctionComponent<{ of: ServerView }> = (props) =>
    useContractIds(contractsQuery(props.of.live, { queryKey: ['contracts'] }));
  const element = (...of: readonly ServerView[]) =>
    react.createElement(
      query.QueryClientProvider,
      { client },
      react.createElement(
        react.Suspense,
        { fallback: 'waits' },
        ...of.map((each, i) => react.createElement(Ids, { of: each, key: i })),
      ),
    );
  const shown = await loaded.show(element(view));
  expect(shown.text()).toBe('waits');
  await loaded.act(() => {
    view.reset([contract('x')]);
  });
  await loaded.until(() => shown.text() === 'x');
  return { view, client, element, ...shown };
}

it('shows no render without contracts before an error that ends the view', async () => {
  const renders: string[] = [];
  const { view, client, ...shown } = await showQuery((options) => {
    const { status, data } = query.useQuery(options);
    renders.push(status);
    return status === 'error' ? 'refused' : text(data);
  });
  renders.splice(0);
  await loaded.act(() => {
    view.fail(new Error('refused'));
  });
  await loaded.until(() => shown.text() === 'refused');
  expect(new Set(renders)).toEqual(new Set(['error']));
  await shown.unmount();
  client.clear();
});

it.each(['useQuery', 'useSuspenseQuery'] as const)('%s shows the contracts, and follows them', async (hook) => {
  const { view, client, element, ...shown } = await showQuery((options) => text(query[hook](options).data));
  await loaded.act(() => {
    view.change({ add: [contract('y')] });
  });
  await loaded.until(() => shown.text() === 'xy');
  await shown.render(element(view, view));
  expect(shown.text()).toBe('xyxy');
  await loaded.until(() => view.subscriptions === 1);
  const ofBob = new ServerView([bob]);
  await shown.render(element(ofBob));
  expect(shown.text()).not.toContain('x');
  await loaded.act(() => {
    ofBob.reset([contract('b', [bob])]);
  });
  await loaded.until(() => shown.text() === 'b');
  expect(view.subscriptions).toBe(0);
  await loaded.act(() => {
    ofBob.change({ remove: ['b'], add: [contract('c', [bob])] });
  });
  await loaded.until(() => shown.text() === 'c');
  await shown.unmount();
  expect(ofBob.subscriptions).toBe(0);
  client.clear();
});

it('shows nothing of a user who has left where the components are removed, and the former rows where they stay', async () => {
  const { view, client, element, ...shown } = await showQuery((options) => text(query.useQuery(options).data));
  const page = (user: string) => react.createElement(react.Fragment, { key: user }, element(view));
  await shown.render(page('alice'));
  await loaded.until(() => shown.text() === 'x');
  client.clear();
  view.reset([]);
  await loaded.until(() => view.subscriptions === 0);
  // as the guide says
  expect(shown.text()).toBe('x');
  await shown.render(page('bob'));
  await loaded.until(() => shown.text() === '');
  await shown.unmount();
  client.clear();
});

it('useSuspenseQuery follows contracts that a server has just read', async () => {
  const view = new ServerView();
  const client = new query.QueryClient();
  const options = contractsQuery(view.live, { queryKey: ['contracts'] });
  client.setQueryData(options.queryKey, [contract('x')]);
  const Ids: FunctionComponent = () => text(query.useSuspenseQuery(options).data);
  const shown = await loaded.show(react.createElement(query.QueryClientProvider, { client }, react.createElement(Ids)));
  expect(shown.text()).toBe('x');
  await loaded.act(() => {
    view.reset([contract('x'), contract('y')]);
  });
  await loaded.until(() => shown.text() === 'xy');
  await shown.unmount();
  client.clear();
});

it('useLiveQuery shows the contracts, and follows them', async () => {
  const view = new ServerView();
  const contracts = db.createCollection(contractsCollection(view.live));
  const Ids: FunctionComponent = () => {
    const { data, isReady } = db.useLiveQuery((q) =>
      q.from({ contract: contracts }).orderBy(({ contract: { contractId } }) => contractId, 'desc'),
    );
    return isReady ? text(data) : 'waits';
  };
  const shown = await loaded.show(react.createElement(Ids));
  expect(shown.text()).toBe('waits');
  await loaded.act(() => {
    view.reset([contract('x'), contract('y')]);
  });
  await loaded.until(() => shown.text() === 'yx');
  await loaded.act(() => {
    view.change({ add: [contract('z')], remove: ['x'] });
  });
  await loaded.until(() => shown.text() === 'zy');
  expect(view.subscriptions).toBe(1);
  await shown.unmount();
  await loaded.until(() => contracts.subscriberCount === 0);
  await contracts.cleanup();
  expect(view.subscriptions).toBe(0);
});
