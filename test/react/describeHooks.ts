import { PassThrough } from 'node:stream';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as t from 'io-ts';
import { defer, of, ReplaySubject, Subject } from 'rxjs';
import type { FunctionComponent } from 'react';
import { contractType } from '../../src/codecs/TemplateType.js';
import type { CommandsRequest } from '../../src/codecs/SubmissionRequest.js';
import { create as createCommand } from '../../src/index.js';
import type { SubmittedTransaction } from '../../src/codecs/Transaction.js';
import { shareContracts, type SharedContracts } from '../../src/contracts/shareContracts.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { shareRemoteContracts } from '../../src/sse/index.js';
import type { ContractsResult, SubmitState } from '../../src/react/index.js';
import { ledgerSession, type LedgerSession } from '../../src/session/index.js';
import { archive, create, Marble, marbles, undecodable } from '../contracts/joinSupport.js';
import type { HistoryUpdate } from '../helpers/contractHistory.js';
import { contractsWorld, type ContractsWorld, listPath, pagePath } from '../helpers/virtualContracts.js';
import type { Reply } from '../helpers/scripted.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { AppServer, url } from '../sse/remoteSupport.js';
import { contract, ServerView } from '../sse/support.js';
import type { Loaded, Shown } from './loadReact.js';

const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
const [alice, bob] = ['alice::1220ab', 'bob::1220ab'];
const options = { signatories: [alice] };
const refusal = errorReply(403, errorBody('PERMISSION_DENIED', 7));

/** The element of a list, which has it. */
function at<A>(index: number, list: readonly A[]): A {
  const value = list.at(index);
  if (value === undefined) throw new Error('nothing was rendered');
  return value;
}

/** The tests of the hooks, in StrictMode, with a version of React. */
export function describeHooks(version: string, load: () => Promise<Loaded>): void {
  let loaded: Loaded;
  beforeAll(async () => {
    loaded = await load();
    expect(loaded.react.version).toMatch(version);
  });
  const h: Loaded['react']['createElement'] = ((...args: Parameters<typeof loaded.react.createElement>) =>
    loaded.react.createElement(...args)) as Loaded['react']['createElement'];
  const opened: SharedContracts[] = [];
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const shown of mounted.splice(0)) await shown.unmount();
    for (const shared of opened.splice(0)) shared.clear();
  });

  /** A participant with a contract `x`, which gives the reply of `trouble` if there is one, and a provider of its ledger. */
  function world(reply?: Reply, session?: LedgerSession) {
    const trouble = { reply };
    const ofSession = session && { token: session.token, interceptors: [session] };
    const client = { retry: { baseDelayMs: 5, maxDelayMs: 5 }, ...ofSession };
    const virtual = contractsWorld({ latencyMs: 1, fault: () => trouble.reply, client });
    virtual.participant.append(create(1, 'x'));
    const contracts = shareContracts(virtual.client);
    opened.push(contracts);
    const provide = (...children: readonly React.ReactNode[]) =>
      h(loaded.hooks.LedgerProvider, { ledger: virtual.client, contracts, parties: [alice] }, ...children);
    return { ...virtual, provide, contracts, trouble };
  }
  const commit = (participant: ContractsWorld['participant'], ...updates: readonly HistoryUpdate[]) =>
    loaded.act(() => {
      participant.append(...updates);
    });
  const snapshots = (service: ContractsWorld['service']): number =>
    service.requests.filter(({ path }) => [pagePath, listPath].includes(path)).length;

  const brief = ({ status, contracts }: ContractsResult): string =>
    `${status} ${contracts.map(({ contractId }) => contractId).join('')}`.trim();

  /** A component that shows a query, and keeps the results of its renders. */
  function shows(useQuery: (props: { readonly party: string | null }) => ContractsResult) {
    const results: ContractsResult[] = [];
    const Component: FunctionComponent<{ party?: string | null }> = ({ party = alice }) => {
      const result = useQuery({ party });
      results.push(result);
      return h('p', null, brief(result));
    };
    return { Component, results, last: () => at(-1, results) };
  }
  const marblesOf = ({ party }: { readonly party: string | null }): ContractsResult =>
    loaded.hooks.useContracts(party === null ? null : { types: { marble: Marble }, parties: [party] });
  /** Shows the message of an error that is thrown below, until it is reset, and keeps the log of React out of the test. */
  function boundary() {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    return class Boundary extends loaded.react.Component<
      React.PropsWithChildren<{ readonly onError?: (reset: () => void) => void }>,
      { readonly error: Error | undefined }
    > {
      override state = { error: undefined };
      static getDerivedStateFromError = (error: Error) => ({ error });
      override componentDidCatch(): void {
        this.props.onError?.(() => {
          this.setState({ error: undefined });
        });
      }
      override render(): React.ReactNode {
        return (this.state.error as Error | undefined)?.message ?? this.props.children;
      }
    };
  }
  const mounted: Shown[] = [];
  /** Shows an element until the end of the test. */
  async function show(element: React.ReactNode, isStrict?: boolean) {
    const shown = await loaded.show(element, isStrict);
    mounted.push(shown);
    return { ...shown, until: (expected: string) => loaded.until(() => shown.text() === expected) };
  }
  /** Shows the contracts of a participant, by default until they are there. */
  async function showMarbles(expected = 'live x', reply?: Reply) {
    const virtual = world(reply);
    const component = shows(marblesOf);
    const shown = await show(virtual.provide(h(component.Component)));
    const first = at(0, component.results);
    await shown.until(expected);
    return { ...virtual, ...component, ...shown, first };
  }

  describe(`useContracts in React ${version}`, () => {
    it('shows the contracts of a query that is written in the component, and follows them', async () => {
      const { participant, service, first, until } = await showMarbles();
      expect(brief(first)).toBe('loading');
      await commit(participant, create(2, 'y'), archive(3, 'x'));
      await until('live y');
      expect(snapshots(service)).toBe(1);
    });

    it('shares one view among components, which show the same contracts in each render', async () => {
      const { provide, participant, service } = world();
      const [one, other] = [shows(marblesOf), shows(() => loaded.hooks.useContracts(marbles))];
      const { until } = await show(provide(h(one.Component), h(other.Component)));
      await until('live xlive x');
      expect(one.last().contracts).toBe(other.last().contracts);
      await commit(participant, create(2, 'y'));
      await until('live xylive xy');
      expect([snapshots(service), service.open]).toEqual([1, 1]);
    });

    it('shows the contracts that a server sends, without a ledger', async () => {
      const view = new ServerView();
      view.reset([contract('x'), contract('y', [bob])]);
      const contracts = shareRemoteContracts(url, { fetch: new AppServer(view.live).fetch });
      opened.push(contracts);
      const [all, own] = [
        shows(() => loaded.hooks.useContracts({})),
        shows(() => loaded.hooks.useContracts({ parties: [bob] })),
      ];
      const element = h(loaded.hooks.LedgerProvider, { contracts }, h(all.Component), h(own.Component));
      const { until } = await show(element);
      await until('live xylive y');
      await loaded.act(() => {
        view.change({ remove: ['y'] });
      });
      await until('live xlive');
    });

    it('shows the contracts in the first render where a view is kept', async () => {
      const { provide, service, results, Component, render } = await showMarbles();
      await render(provide());
      results.splice(0);
      await render(provide(h(Component)));
      expect(new Set(results.map(brief))).toEqual(new Set(['live x']));
      expect(snapshots(service)).toBe(1);
    });

    it('requests nothing before it is mounted, and nothing for null', async () => {
      const { provide, service } = world();
      const { Component, last } = shows(marblesOf);
      expect(loaded.server.renderToString(provide(h(Component)))).toBe('<p>loading</p>');
      const { text } = await show(provide(h(Component, { party: null })));
      expect(text()).toBe('idle');
      last().reload();
      expect(last()).toMatchObject({ contracts: [], error: undefined, connection: undefined, offset: undefined });
      expect(service.requests).toEqual([]);
    });

    it('never shows the contracts of another query', async () => {
      const { provide, results, Component, text, render, until } = await showMarbles();
      results.splice(0);
      await render(provide(h(Component, { party: bob })));
      expect(brief(at(0, results))).toBe('loading');
      await until('live x');
      await render(provide(h(Component, { party: null })));
      expect(text()).toBe('idle');
    });

    it('shows the error that ends a view in each component, and begins again with reload', async () => {
      const { provide, participant, trouble } = world(refusal);
      const { Component, last } = shows(marblesOf);
      const { until } = await show(provide(h(Component), h(Component)));
      await until('errorerror');
      expect(last().error).toMatchObject({ _tag: 'ApiError', status: 403 });
      trouble.reply = undefined;
      participant.append(create(2, 'y'));
      const { reload } = last();
      await loaded.act(reload);
      await until('live xylive xy');
      expect(last().error).toBeUndefined();
      expect(last().reload).toBe(reload);
    });

    it('begins again where a component that shows an error is mounted anew', async () => {
      const { provide, results, Component, render, until, trouble } = await showMarbles('error', refusal);
      await render(provide());
      trouble.reply = undefined;
      results.splice(0);
      await render(provide(h(Component)));
      expect(brief(at(0, results))).toBe('loading');
      await until('live x');
    });

    it('keeps the contracts before an update that does not decode beside the error', async () => {
      const { participant, last, until } = await showMarbles();
      await commit(participant, undecodable(2), create(3, 'y'));
      await until('error x');
      expect(last()).toMatchObject({ offset: 1, error: { _tag: 'DecodeError', offset: 2, updateId: '12202' } });
      await loaded.act(last().reload);
      await until('live xy');
    });

    it('forgets the contracts that are shown after clear, and reads them again with the rights of the next user', async () => {
      const { provide, contracts, participant, service, ...shown } = await showMarbles();
      shown.results.splice(0);
      participant.append(archive(2, 'x'), create(3, 'z'));
      await loaded.act(() => {
        contracts.clear();
      });
      await shown.until('live z');
      expect(shown.results.slice(0, 2).map(brief)).toContain('loading');
      // a component that is mounted later shares the new view
      await shown.render(provide(h(shown.Component), h(shown.Component)));
      expect(shown.text()).toBe('live zlive z');
      expect(snapshots(service)).toBe(2);
    });

    it('keeps no view with keepMs 0: it ends with its component, and keeps the contracts as stale ones while it reloads', async () => {
      const { client, participant, service } = world();
      const contracts = shareContracts(client, { keepMs: 0 });
      const { Component, results, last } = shows(marblesOf);
      const provider = { ledger: client, contracts, parties: [alice] };
      const shown = await show(h(loaded.hooks.LedgerProvider, provider, h(Component)));
      await shown.until('live x');
      const before = snapshots(service);
      const { reload } = last();
      results.splice(0);
      participant.append(create(2, 'y'));
      await loaded.act(reload);
      await shown.until('live xy');
      expect(new Set(results.map(({ status }) => status))).not.toContain('loading');
      expect(snapshots(service)).toBe(before + 1);
      await shown.unmount();
      expect(service.open).toBe(0);
    });

    it('keeps the contracts as stale ones during an outage, and says why', async () => {
      const { participant, last, until, trouble } = await showMarbles();
      trouble.reply = errorReply(503, 'down');
      await loaded.act(() => {
        participant.ledger.disconnect();
      });
      await until('stale x');
      expect(last().connection).toMatchObject({ status: 'retrying' });
      trouble.reply = undefined;
      await until('live x');
    });

    it('has an error for a query without parties', async () => {
      const { client } = world();
      const { Component, last } = shows(() => loaded.hooks.useContracts({ types: { marble: Marble } }));
      await show(h(loaded.hooks.LedgerProvider, { ledger: client }, h(Component)));
      expect(last()).toMatchObject({ status: 'error', error: expect.any(TypeError) });
    });

    it('follows what is shown while a query that differs in an Observable alone is rendered in a transition', async () => {
      const { provide, participant } = world();
      const queries = [0, 1].map(() => ({ types: { marble: Marble }, parties: of([alice]) }));
      let choose: (query: number) => void = () => undefined;
      const rendered: number[] = [];
      const Marbles: FunctionComponent<{ query: number }> = ({ query }) => {
        const { contracts } = loaded.hooks.useContracts(queries[query] ?? null, { conflate: 1 });
        rendered.push(query);
        return `${query} ${contracts.map(({ contractId }) => contractId).join('')}`;
      };
      // takes longer than a change of the contracts, which interrupts it
      const Slow: FunctionComponent<{ query: number }> = ({ query }) => {
        const end = performance.now() + 3 * query;
        while (performance.now() < end);
        return null;
      };
      const Choice = () => {
        const [query, setQuery] = loaded.react.useState(0);
        choose = setQuery;
        const slow = Array.from({ length: 100 }, (_, key) => h(Slow, { query, key }));
        return h('div', null, h(Marbles, { query }), ...slow);
      };
      const Boundary = boundary();
      const { text, until } = await show(provide(h(Boundary, null, h(Choice))), false);
      await until('0 x');
      let offset = 1;
      const interruptions = () => rendered.filter((query, index) => query === 1 && rendered[index + 1] === 0).length;
      await loaded.until(() => {
        if (offset === 1)
          loaded.react.startTransition(() => {
            choose(1);
          });
        if (interruptions() < 3) participant.append(create((offset += 1), `${offset}`));
        return !text().startsWith('0');
      });
      expect(text()).toMatch(/^1/);
    });

    it('names the mistake without a provider, and with a type that is created in each render', async () => {
      const Boundary = boundary();
      const { Component } = shows(marblesOf);
      const alone = await show(h(Boundary, null, h(Component)));
      expect(alone.text()).toBe('useContracts needs a <LedgerProvider ledger={ledger}> above the component.');
      const { provide, service } = world();
      const each = shows(() =>
        loaded.hooks.useContracts({ types: { iou: contractType('#finance:Main:Iou', t.type({ owner: t.string })) } }),
      );
      const shown = await show(provide(h(Boundary, null, h(each.Component))));
      await loaded.until(() => shown.text().includes('another query'));
      expect(shown.text()).toContain('useContracts gets another query in each render');
      expect(service.requests.length).toBeLessThan(100);
    });
  });

  describe(`useContracts with suspense in React ${version}`, () => {
    const suspended = ({ party }: { readonly party: string | null }): ContractsResult =>
      loaded.hooks.useContracts(party === null ? null : { types: { marble: Marble }, parties: [party] }, {
        suspense: true,
      });
    const suspense = (...children: readonly React.ReactNode[]) =>
      h(loaded.react.Suspense, { fallback: 'waits' }, ...children);

    it.each([0, 30_000])(
      'renders the fallback until the contracts are known, and follows them: kept %i ms',
      async (keepMs) => {
        const { client, participant, service } = world();
        const contracts = shareContracts(client, { keepMs });
        opened.push(contracts);
        const { Component, results } = shows(suspended);
        const element = h(
          loaded.hooks.LedgerProvider,
          { ledger: client, contracts },
          suspense(h(Component), h(Component)),
        );
        const { text, until } = await show(element);
        expect(text()).toBe('waits');
        await until('live xlive x');
        expect(results.every(({ status }) => status !== 'loading')).toBe(true);
        await commit(participant, create(2, 'y'));
        await until('live xylive xy');
        expect([snapshots(service), service.open]).toEqual([1, 1]);
      },
    );

    it('stays on what is shown while another query is known in a transition', async () => {
      const { provide } = world();
      const { Component } = shows(suspended);
      let choose: (party: string) => void = () => undefined;
      const Choice = () => {
        const [party, setParty] = loaded.react.useState(alice);
        choose = setParty;
        return h(Component, { party });
      };
      const { text, until } = await show(provide(suspense(h(Choice))));
      await until('live x');
      const seen = new Set<string>();
      await loaded.act(() => {
        loaded.react.startTransition(() => {
          choose(bob);
        });
      });
      seen.add(text());
      await until('live x');
      expect(seen).toEqual(new Set(['live x']));
    });

    it('follows what is shown while a query that differs in an Observable alone is known in a transition', async () => {
      const { provide, participant } = world();
      const next$ = new ReplaySubject<readonly string[]>(1);
      const queries = [of([alice]), next$].map((parties) => ({ types: { marble: Marble }, parties }));
      let choose: (query: number) => void = () => undefined;
      const Marbles: FunctionComponent<{ query: number }> = ({ query }) => {
        const { contracts } = loaded.hooks.useContracts(queries[query] ?? null, { suspense: true });
        return `${query} ${contracts.map(({ contractId }) => contractId).join('')}`;
      };
      const Choice = () => {
        const [query, setQuery] = loaded.react.useState(0);
        choose = setQuery;
        return h(Marbles, { query });
      };
      const { text, until } = await show(provide(suspense(h(Choice))));
      await until('0 x');
      await loaded.act(() => {
        loaded.react.startTransition(() => {
          choose(1);
        });
      });
      const shown = [text()];
      for (const [index, contractId] of ['y', 'z', 'v', 'w'].entries()) {
        await commit(participant, create(index + 2, contractId));
        await loaded.until(() => text().endsWith(contractId) || text() === 'waits');
        shown.push(text());
      }
      expect(shown).toEqual(['0 x', '0 xy', '0 xyz', '0 xyzv', '0 xyzvw']);
      next$.next([alice]);
      await until('1 xyzvw');
    });

    it('throws the error of a view, and begins again where a component is mounted after it', async () => {
      const Boundary = boundary();
      const { provide, trouble, service } = world(refusal);
      const { Component } = shows(suspended);
      let reset: () => void = () => undefined;
      const onError = (its: () => void): void => {
        reset = its;
      };
      const { text } = await show(provide(h(Boundary, { onError }, suspense(h(Component)))));
      const refused = (): boolean => text().includes('403');
      await loaded.until(refused);
      const { length } = service.requests;
      await loaded.until(() => {
        reset();
        return service.requests.length > length;
      });
      await loaded.until(refused);
      trouble.reply = undefined;
      await loaded.until(() => {
        if (refused()) reset();
        return text() === 'live x';
      });
    });

    it('begins again a second after the error of a view whose contracts it has just shown', async () => {
      const Boundary = boundary();
      const { provide, trouble, participant } = world();
      const { Component } = shows(suspended);
      let reset: () => void = () => undefined;
      const onError = (its: () => void): void => {
        reset = its;
      };
      const { text, until } = await show(provide(h(Boundary, { onError }, suspense(h(Component)))));
      await until('live x');
      trouble.reply = refusal;
      await commit(participant, create(2, 'y'));
      await loaded.until(() => text().includes('403'));
      trouble.reply = undefined;
      const failedAt = performance.now();
      await loaded.until(() => {
        if (text().includes('403')) reset();
        return text() === 'live xy';
      });
      expect(performance.now() - failedAt).toBeLessThan(3_000);
    });

    it.each(['sees contracts', 'has no valid token', 'has just come'])(
      'shows the next user no error of the view of the former one, who %s',
      async (what) => {
        let user: string | undefined = 'alice';
        const session = ledgerSession({
          token: () => user && `header.${btoa(JSON.stringify({ sub: user }))}.signature`,
          name: `react ${version}, suspense, ${what}`,
        });
        const { provide } = world(undefined, session);
        const Boundary = boundary();
        const { Component } = shows(suspended);
        const Page: FunctionComponent = () =>
          loaded.hooks.useSession(session).state === 'signedOut' ? 'nobody' : h(Boundary, null, suspense(h(Component)));
        await session.signIn();
        if (what === 'has no valid token') user = undefined;
        // each commit, because the page shows for 50 ms only that there is nobody
        const seen = new Set<string>();
        let see: () => void = () => undefined;
        const onRender = (): void => {
          see();
        };
        const { text, until } = await show(provide(h(loaded.react.Profiler, { id: 'page', onRender }, h(Page))));
        if (what !== 'has just come') await until(user === undefined ? 'waits' : 'live x');
        user = 'bob';
        see = () => void seen.add(text());
        let entered: Promise<unknown> | undefined;
        await loaded.until(() => {
          entered ??= session.signIn();
          return seen.has('nobody') && !['nobody', 'waits'].includes(text());
        });
        await until('live x');
        expect([...seen].filter((each) => each.includes('signed out'))).toEqual([]);
      },
    );

    it('throws the error of a session without a user, and begins no view after the other', async () => {
      const session = ledgerSession({ token: () => 'token', name: `react ${version}, suspense without a user` });
      await session.signIn();
      await session.signOut();
      const { provide, service } = world(undefined, session);
      let renders = 0;
      const { Component } = shows((props) => {
        renders += 1;
        return suspended(props);
      });
      const { text } = await show(provide(h(boundary(), null, suspense(h(Component)))));
      await loaded.until(() => text().includes('signed out'));
      expect(renders).toBeLessThan(20);
      expect(service.requests).toEqual([]);
    });

    it('renders any number of queries that differ in an Observable alone', async () => {
      const { provide } = world();
      const components = Array.from({ length: 8 }, () => {
        const query = { types: { marble: Marble }, parties: of([alice]) };
        return shows(() => loaded.hooks.useContracts(query, { suspense: true })).Component;
      });
      const Boundary = boundary();
      const { until } = await show(provide(h(Boundary, null, suspense(...components.map((Each) => h(Each))))));
      await until('live x'.repeat(8));
    });

    it('renders any number of them while the first one in their Suspense waits', async () => {
      const { provide, contracts } = world();
      const first$ = new ReplaySubject<readonly string[]>(1);
      const queries = [first$, ...Array.from({ length: 8 }, () => of([alice]))].map((parties) => ({
        types: { marble: Marble },
        parties,
      }));
      const components = queries.map((query) => shows(() => loaded.hooks.useContracts(query, { suspense: true })));
      const Boundary = boundary();
      const page = () => provide(h(Boundary, null, suspense(...components.map(({ Component }) => h(Component)))));
      const { text, render, until } = await show(page());
      await loaded.until(() => queries.slice(1).every((query) => contracts.view(query).current().known !== undefined));
      for (let i = 0; i < 3; i += 1) await render(page());
      expect(text()).toBe('waits');
      first$.next([alice]);
      await until('live x'.repeat(9));
    });

    it('names the mistake of a type that is created in each render', async () => {
      const Boundary = boundary();
      const { provide, service } = world();
      const each = shows(() =>
        loaded.hooks.useContracts(
          { types: { iou: contractType('#finance:Main:Iou', t.type({ owner: t.string })) } },
          { suspense: true },
        ),
      );
      const shown = await show(provide(h(Boundary, null, suspense(h(each.Component)))));
      await loaded.until(() => shown.text().includes('another query'));
      expect(service.requests.length).toBeLessThan(200);
    });

    it('is idle without a query, and renders the fallback on a server, without a request', async () => {
      const { provide, service } = world();
      const { Component } = shows(suspended);
      const { text } = await show(provide(suspense(h(Component, { party: null }))));
      expect(text()).toBe('idle');
      expect(loaded.server.renderToString(provide(suspense(h(Component))))).toContain('waits');
      expect(service.requests).toEqual([]);
    });

    it('renders on a server what needs no contracts, and the fallback as Next does for what it leaves to the browser', async () => {
      const { Component } = shows(suspended);
      const rendered = async (element: React.ReactNode) => {
        const errors: unknown[] = [];
        const html = new PassThrough({ encoding: 'utf8' });
        loaded.server.renderToPipeableStream(element, { onError: (error) => void errors.push(error) }).pipe(html);
        return { text: (await html.toArray()).join(''), errors };
      };
      const { provide } = world();
      const waits = await rendered(provide(suspense(h(Component))));
      expect(waits.text).toContain('waits');
      expect(waits.errors).toMatchObject([
        { digest: 'BAILOUT_TO_CLIENT_SIDE_RENDERING', reason: 'useContracts with suspense: true' },
      ]);
      const idle = await rendered(provide(suspense(h(Component, { party: null }))));
      expect([idle.text.includes('idle'), idle.errors]).toEqual([true, []]);
    });
  });

  describe(`contracts of a test in React ${version}`, () => {
    const test = () => new loaded.testing.ContractsTestingController();
    const provide = (contracts: ReturnType<typeof test>, ...children: readonly React.ReactNode[]) =>
      h(loaded.testing.TestLedgerProvider, { contracts }, ...children);

    it('are selected and sorted, in the same array until one of them changes', async () => {
      const contracts = test();
      const issue = (owner: string, amount: string) => contracts.create(Iou, { owner, amount }, options);
      issue(alice, '2');
      issue(bob, '3');
      issue(alice, '1');
      const { Component, last } = shows(({ party }) =>
        loaded.hooks.useContracts(
          { types: { iou: Iou } },
          {
            select: ({ payload }) => payload?.owner === party,
            compare: (a, b) => (a.payload?.amount ?? '').localeCompare(b.payload?.amount ?? ''),
          },
        ),
      );
      const shown = await show(provide(contracts, h(Component)));
      const amounts = () => last().contracts.map(({ payload }) => (payload as { amount: string }).amount);
      expect(amounts()).toEqual(['1', '2']);
      const before = last();
      await shown.render(provide(contracts, h(Component)));
      expect(last()).toBe(before);
      await loaded.act(() => issue(bob, '0'));
      expect(last().contracts).toBe(before.contracts);
      await loaded.act(() => issue(alice, '0'));
      expect(amounts()).toEqual(['0', '1', '2']);
      await shown.render(provide(contracts, h(Component, { party: bob })));
      expect(amounts()).toEqual(['0', '3']);
    });

    it('are loading, stale and refused as the test wants', async () => {
      const contracts = test();
      contracts.hold();
      const { Component, last } = shows(() => loaded.hooks.useContracts({ types: { iou: Iou } }));
      const shown = await show(provide(contracts, h(Component)));
      expect(shown.text()).toBe('loading');
      for (const [change, text] of [
        ['release', 'live'],
        ['disconnect', 'stale'],
        ['refuse', 'error'],
      ] as const) {
        await loaded.act(() => {
          contracts[change]();
        });
        expect(shown.text()).toBe(text);
      }
      contracts.release();
      await loaded.act(last().reload);
      expect(shown.text()).toBe('live');
    });

    it('have a mark when they are of another ledger, until they are read again, and the time since which they are stale', async () => {
      const contracts = test();
      const { Component, last } = shows(() => loaded.hooks.useContracts({ types: { iou: Iou } }));
      await show(provide(contracts, h(Component)));
      const marks = () => [last().status, last().staleSince, last().reset];
      const now = jest.spyOn(Date, 'now').mockReturnValue(1_000);
      const change = (name: 'reset' | 'disconnect' | 'reconnect') =>
        loaded.act(() => {
          contracts[name]();
        });
      expect(marks()).toEqual(['live', undefined, undefined]);
      await change('disconnect');
      now.mockReturnValue(2_000);
      await loaded.act(() => contracts.create(Iou, { owner: alice, amount: '2' }, options));
      expect(marks()).toEqual(['stale', 1_000, undefined]);
      await change('reset');
      expect(marks()).toEqual(['stale', 1_000, undefined]);
      await change('reconnect');
      const reset = { at: 2_000, offset: 0 };
      expect(marks()).toEqual(['live', undefined, reset]);
      await loaded.act(() => contracts.create(Iou, { owner: alice, amount: '3' }, options));
      await change('disconnect');
      expect(marks()).toEqual(['stale', 2_000, reset]);
      await change('reconnect');
      await loaded.act(last().reload);
      expect(marks()).toEqual(['live', undefined, undefined]);
    });

    it('are found by id, with a type or with a query, and gone when archived', async () => {
      const contracts = test();
      const id = contracts.create(Iou, { owner: alice, amount: '2' }, options);
      const One: FunctionComponent<{ id: string | null }> = ({ id: contractId }) => {
        const byType = loaded.hooks.useContract(Iou, contractId);
        const byQuery = loaded.hooks.useContract({ types: { iou: Iou } }, contractId);
        const amount: string | undefined = byType.contract?.payload?.amount;
        return `${byType.status} ${amount} ${byQuery.contract?.type}`;
      };
      const shown = await show(provide(contracts, h(One, { id })));
      expect(shown.text()).toBe('live 2 iou');
      await shown.render(provide(contracts, h(One, { id: null })));
      expect(shown.text()).toBe('idle undefined undefined');
      await shown.render(provide(contracts, h(One, { id })));
      await loaded.act(() => {
        contracts.archive(id);
      });
      expect(shown.text()).toBe('live undefined undefined');
    });
  });

  describe(`useSubmit in React ${version}`, () => {
    const transaction = { _tag: 'Transaction', updateId: 'u1', offset: 2 } as SubmittedTransaction;
    const request: CommandsRequest = { actAs: [alice], commands: [createCommand(Iou, { owner: alice, amount: '1' })] };

    /** A ledger whose submissions end when the test says so. */
    function submissions() {
      const sent: Subject<SubmittedTransaction>[] = [];
      const outcome$ = defer(() => {
        sent.push(new Subject());
        return at(-1, sent);
      });
      const submitAndWaitForTransaction = jest.fn(() => outcome$);
      const ledger = { ...contractsWorld().client, submitAndWaitForTransaction } as Ledger;
      const commitLast = () =>
        loaded.act(() => {
          at(-1, sent).next(transaction);
          at(-1, sent).complete();
        });
      const fail = () => loaded.act(() => sent.at(-1)?.error(new Error('lost')));
      return { ledger, sent, commitLast, fail, made: submitAndWaitForTransaction };
    }

    async function form(ledger: Ledger, useEffectOf?: (state: SubmitState) => void) {
      const states: SubmitState[] = [];
      const Form: FunctionComponent = () => {
        const state = loaded.hooks.useSubmit();
        useEffectOf?.(state);
        states.push(state);
        return `${state.pending ? 'pending' : 'ready'} ${state.outcome?._tag}`;
      };
      const contracts = new loaded.testing.ContractsTestingController();
      const shown = await show(h(loaded.testing.TestLedgerProvider, { contracts, ledger }, h(Form)));
      return { shown, last: () => at(-1, states) };
    }

    it('submits once for a double click, and has the outcome', async () => {
      const { ledger, sent, commitLast } = submissions();
      const { shown, last } = await form(ledger);
      expect(shown.text()).toBe('ready undefined');
      const { submit, reset } = last();
      let results: Promise<unknown[]> | undefined;
      await loaded.act(() => {
        results = Promise.all([submit(request), submit(request)]);
      });
      expect(shown.text()).toBe('pending undefined');
      expect(sent).toHaveLength(1);
      await commitLast();
      expect(shown.text()).toBe('ready Committed');
      expect(await results).toEqual([{ _tag: 'Committed', transaction }, undefined]);
      await loaded.act(reset);
      expect(shown.text()).toBe('ready undefined');
      expect([last().submit, last().reset]).toEqual([submit, reset]);
    });

    it('submits once from an effect that StrictMode runs twice', async () => {
      const { ledger, sent } = submissions();
      await form(ledger, ({ submit }) => {
        loaded.react.useEffect(() => {
          void submit(request);
        }, [submit]);
      });
      expect(sent).toHaveLength(1);
    });

    it('continues the same Observable with retry after a failure', async () => {
      const { ledger, sent, commitLast, fail, made } = submissions();
      const { shown, last } = await form(ledger);
      await loaded.act(() => last().retry());
      expect(sent).toHaveLength(0);
      await loaded.act(() => void last().submit(request));
      // a click meanwhile is not what retry submits
      await loaded.act(() => void last().submit(request));
      await fail();
      expect(last().outcome).toEqual({ _tag: 'Failed', error: new Error('lost') });
      await loaded.act(() => void last().retry());
      expect(shown.text()).toBe('pending undefined');
      await commitLast();
      expect(shown.text()).toBe('ready Committed');
      expect([made.mock.calls.length, sent.length]).toEqual([1, 2]);
    });

    it.each([undefined, null, 'a click'])('has an outcome that names the mistake if it is given %p', async (given) => {
      const { shown, last } = await form(contractsWorld().client);
      await loaded.act(() => last().submit(given as unknown as CommandsRequest));
      expect(shown.text()).toBe('ready Failed');
      expect(last().outcome).toMatchObject({ error: { _tag: 'InvalidRequestError' } });
    });

    it('renders a commit together with the contracts that it has created, in one render', async () => {
      const { ledger, sent } = submissions();
      const contracts = new loaded.testing.ContractsTestingController();
      const renders: string[] = [];
      const states: SubmitState[] = [];
      const Issue: FunctionComponent = () => {
        const ious = loaded.hooks.useContracts({ types: { iou: Iou } });
        const state = loaded.hooks.useSubmit({ awaits: ious });
        states.push(state);
        const rendered = `${state.pending ? 'pending' : state.outcome?._tag} ${ious.contracts.length}`;
        renders.push(rendered);
        return rendered;
      };
      const shown = await show(h(loaded.testing.TestLedgerProvider, { contracts, ledger }, h(Issue)));
      await loaded.act(() => void contracts.create(Iou, { owner: alice, amount: '1' }));
      let outcome: Promise<unknown> | undefined;
      await loaded.act(() => {
        outcome = at(-1, states).submit(request);
      });
      // the answer comes before the update
      await loaded.act(() => {
        at(-1, sent).next(transaction);
        at(-1, sent).complete();
      });
      expect(shown.text()).toBe('pending 1');
      renders.splice(0);
      let isCreated = false;
      // not within act, which renders once for all changes
      await loaded.until(() => {
        if (!isCreated) contracts.create(Iou, { owner: alice, amount: '2' });
        isCreated = true;
        return shown.text() === 'Committed 2';
      });
      expect(new Set(renders)).toEqual(new Set(['Committed 2']));
      expect(await outcome).toEqual({ _tag: 'Committed', transaction });
    });

    it('has the outcome of a commit although the contracts cannot be shown', async () => {
      const { ledger, commitLast } = submissions();
      const contracts = new loaded.testing.ContractsTestingController();
      contracts.refuse();
      const states: SubmitState[] = [];
      const Issue: FunctionComponent = () => {
        const state = loaded.hooks.useSubmit({ awaits: loaded.hooks.useContracts({ types: { iou: Iou } }) });
        states.push(state);
        return state.outcome?._tag;
      };
      const shown = await show(h(loaded.testing.TestLedgerProvider, { contracts, ledger }, h(Issue)));
      await loaded.act(() => void at(-1, states).submit(request));
      await commitLast();
      expect(shown.text()).toBe('Committed');
    });

    it('continues when the component is unmounted', async () => {
      const { ledger, sent, commitLast } = submissions();
      const { shown, last } = await form(ledger);
      let outcome: Promise<unknown> | undefined;
      await loaded.act(() => {
        outcome = last().submit(ledger.submitAndWaitForTransaction(request));
      });
      await shown.unmount();
      expect(sent[0]?.observed).toBe(true);
      await commitLast();
      expect(await outcome).toMatchObject({ _tag: 'Committed' });
    });

    it.each(['the contracts are cleared', 'the provider has another ledger'])(
      'shows the next user no outcome of the former one, and submits nothing of that one again, when %s',
      async (how) => {
        const { ledger, sent, commitLast, fail } = submissions();
        const contracts = shareContracts(ledger);
        const states: SubmitState[] = [];
        const Form: FunctionComponent = () => {
          const state = loaded.hooks.useSubmit();
          states.push(state);
          return `${state.pending ? 'pending' : 'ready'} ${state.outcome?._tag}`;
        };
        const page = (its: Ledger) => h(loaded.hooks.LedgerProvider, { ledger: its, contracts }, h(Form));
        const { text, render } = await show(page(ledger));
        const last = () => at(-1, states);
        const seen: (() => unknown)[] = [() => commitLast(), () => fail()];
        for (const end of seen) {
          await loaded.act(() => void last().submit(request));
          await end();
          expect(last().outcome).toBeDefined();
          const { length } = states;
          if (how === 'the contracts are cleared') await loaded.act(contracts.clear);
          else await render(page({ ...ledger }));
          expect(text()).toBe('ready undefined');
          expect(states.slice(length).filter(({ outcome }) => outcome !== undefined)).toEqual([]);
          expect(await last().retry()).toBeUndefined();
        }
        let outcome: Promise<unknown> | undefined;
        await loaded.act(() => {
          outcome = last().submit(request);
        });
        if (how === 'the contracts are cleared') await loaded.act(contracts.clear);
        else await render(page({ ...ledger }));
        // a second submission of a page that creates its ledger again would be another change
        expect(text()).toBe('pending undefined');
        await commitLast();
        expect(text()).toBe('ready undefined');
        expect(await outcome).toEqual({ _tag: 'Committed', transaction });
        expect(sent).toHaveLength(3);
      },
    );

    it('awaits no contracts that are not shown any more, and reads none for that', async () => {
      const { client, service } = world();
      const contracts = shareContracts(client, { keepMs: 0 });
      const states: SubmitState[] = [];
      const Issue: FunctionComponent = () => {
        const marbles = loaded.hooks.useContracts({ types: { marble: Marble }, parties: [alice] });
        states.push(loaded.hooks.useSubmit({ awaits: marbles }));
        return marbles.status;
      };
      const shown = await show(h(loaded.hooks.LedgerProvider, { ledger: client, contracts }, h(Issue)));
      await shown.until('live');
      const read = snapshots(service);
      const sent = new Subject<SubmittedTransaction>();
      let outcome: Promise<unknown> | undefined;
      await loaded.act(() => {
        outcome = at(-1, states).submit(sent);
      });
      await shown.unmount();
      const { length } = service.requests;
      sent.next(transaction);
      sent.complete();
      expect(await outcome).toEqual({ _tag: 'Committed', transaction });
      expect([snapshots(service), service.requests.length, service.open]).toEqual([read, length, 0]);
    });
  });

  describe(`useSession in React ${version}`, () => {
    it('renders the state of a session, and is signed out on a server', async () => {
      let token: string | undefined;
      const session = ledgerSession({
        token: () => token,
        signIn: () => {
          token = 'a';
          return of(undefined);
        },
        name: `react ${version}`,
      });
      const functions = new Set<unknown>();
      const Login: FunctionComponent = () => {
        const { state, signIn, signOut } = loaded.hooks.useSession(session);
        functions.add(signIn).add(signOut);
        return state;
      };
      expect(loaded.server.renderToString(h(Login))).toBe('signedOut');
      const shown = await show(h(Login));
      expect(shown.text()).toBe('signedOut');
      await loaded.act(() => session.signIn());
      expect(shown.text()).toBe('active');
      await loaded.act(() => session.signOut());
      expect(shown.text()).toBe('signedOut');
      expect(functions.size).toBe(2);
    });

    it.each<[string, (session: LedgerSession) => Promise<unknown>]>([
      ['without a sign-out', (session) => session.signIn()],
      ['at once after a sign-out', (session) => Promise.all([session.signOut(), session.signIn()])],
    ])('begins the components of a user again when another one signs in %s', async (how, enter) => {
      let user = 'alice';
      const token = () => `header.${btoa(JSON.stringify({ sub: user }))}.signature`;
      const session = ledgerSession({ token, name: `react ${version}, next user ${how}` });
      const Contracts: FunctionComponent = () => loaded.react.useState(user)[0];
      const Page: FunctionComponent = () =>
        loaded.hooks.useSession(session).state === 'signedOut' ? 'nobody' : h(Contracts);
      await session.signIn();
      const shown = await show(h(Page));
      expect(shown.text()).toBe('alice');
      user = 'bob';
      let entered: Promise<unknown> | undefined;
      await loaded.until(() => {
        entered ??= enter(session);
        return shown.text() === 'bob';
      });
      await entered;
      expect(session.state).toBe('active');
    });
  });
}
