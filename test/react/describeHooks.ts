import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as t from 'io-ts';
import { Observable, Subject } from 'rxjs';
import type { FunctionComponent } from 'react';
import { contractType } from '../../src/codecs/ContractType.js';
import type { CommandsRequest } from '../../src/codecs/SubmissionRequest.js';
import { create as createCommand } from '../../src/index.js';
import type { SubmittedTransaction } from '../../src/codecs/Transaction.js';
import { shareContracts, type SharedContracts } from '../../src/contracts/shareContracts.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import type { ContractsResult, SubmitState } from '../../src/react/index.js';
import { archive, create, Marble, marbles, undecodable } from '../contracts/joinSupport.js';
import { contractsWorld, type ContractsWorld, listPath, pagePath } from '../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import type { Loaded } from './loadReact.js';

const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
const [alice, bob] = ['alice::1220ab', 'bob::1220ab'];
const options = { signatories: [alice] };
const refusal = errorReply(403, errorBody('PERMISSION_DENIED', 7));

function present<A>(value: A | undefined): A {
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
  afterEach(() => {
    jest.restoreAllMocks();
    for (const shared of opened.splice(0)) shared.clear();
  });

  /** A participant with a contract `x`, and a provider of its ledger. */
  function world(given: Parameters<typeof contractsWorld>[0] = {}) {
    const virtual = contractsWorld({ latencyMs: 1, ...given });
    virtual.participant.append(create(1, 'x'));
    const contracts = shareContracts(virtual.client);
    opened.push(contracts);
    const provide = (...children: readonly React.ReactNode[]) =>
      h(loaded.hooks.LedgerProvider, { ledger: virtual.client, contracts, parties: [alice] }, ...children);
    return { ...virtual, provide, contracts };
  }
  const snapshots = ({ service }: Pick<ContractsWorld, 'service'>): number =>
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
    return { Component, results, last: () => present(results.at(-1)) };
  }
  const marblesOf = ({ party }: { readonly party: string | null }): ContractsResult =>
    loaded.hooks.useContracts(party === null ? null : { types: { marble: Marble }, parties: [party] });
  const untilShown = (text: () => string, expected: string): Promise<void> => loaded.until(() => text() === expected);

  describe(`useContracts in React ${version}`, () => {
    it('shows the contracts of a query that is written in the component, and follows them', async () => {
      const { provide, participant, ...rest } = world();
      const { Component, results } = shows(marblesOf);
      const shown = await loaded.show(provide(h(Component)));
      expect(brief(present(results[0]))).toBe('loading');
      await untilShown(shown.text, 'live x');
      await loaded.act(() => {
        participant.append(create(2, 'y'), archive(3, 'x'));
      });
      await untilShown(shown.text, 'live y');
      expect(snapshots(rest)).toBe(1);
      await shown.unmount();
    });

    it('shares one view among components, which show the same contracts in each render', async () => {
      const { provide, participant, ...rest } = world();
      const [one, other] = [shows(marblesOf), shows(() => loaded.hooks.useContracts(marbles))];
      const shown = await loaded.show(provide(h(one.Component), h(other.Component)));
      await untilShown(shown.text, 'live xlive x');
      expect(one.last().contracts).toBe(other.last().contracts);
      await loaded.act(() => {
        participant.append(create(2, 'y'));
      });
      await untilShown(shown.text, 'live xylive xy');
      expect([snapshots(rest), rest.service.open]).toEqual([1, 1]);
      await shown.unmount();
    });

    it('shows the contracts in the first render where a view is kept', async () => {
      const { provide, ...rest } = world();
      const { Component, results } = shows(marblesOf);
      const shown = await loaded.show(provide(h(Component)));
      await untilShown(shown.text, 'live x');
      await shown.render(provide());
      results.splice(0);
      await shown.render(provide(h(Component)));
      expect(new Set(results.map(brief))).toEqual(new Set(['live x']));
      expect(snapshots(rest)).toBe(1);
      await shown.unmount();
    });

    it('requests nothing before it is mounted, and nothing for null', async () => {
      const { provide, service } = world();
      const { Component, last } = shows(marblesOf);
      const text = loaded.server.renderToString(provide(h(Component)));
      expect(text).toBe('<p>loading</p>');
      const shown = await loaded.show(provide(h(Component, { party: null })));
      expect(shown.text()).toBe('idle');
      last().reload();
      expect(last()).toMatchObject({ contracts: [], error: undefined, connection: undefined, offset: undefined });
      expect(service.requests).toEqual([]);
      await shown.unmount();
    });

    it('never shows the contracts of another query', async () => {
      const { provide } = world();
      const { Component, results } = shows(marblesOf);
      const shown = await loaded.show(provide(h(Component)));
      await untilShown(shown.text, 'live x');
      results.splice(0);
      await shown.render(provide(h(Component, { party: bob })));
      expect(brief(present(results[0]))).toBe('loading');
      await untilShown(shown.text, 'live x');
      await shown.render(provide(h(Component, { party: null })));
      expect(shown.text()).toBe('idle');
      await shown.unmount();
    });

    it('ends its request when it is unmounted while it loads, after the time for which views are kept', async () => {
      const { client, service } = world();
      const contracts = shareContracts(client, { keepMs: 0 });
      const { Component } = shows(marblesOf);
      const shown = await loaded.show(h(loaded.hooks.LedgerProvider, { ledger: client, contracts }, h(Component)));
      expect(service.open).toBe(1);
      await shown.unmount();
      expect(service.open).toBe(0);
    });

    it('shows the error that ends a view in each component, and begins again with reload', async () => {
      let isRefused = true;
      const { provide, participant } = world({ fault: () => (isRefused ? refusal : undefined) });
      const { Component, last } = shows(marblesOf);
      const shown = await loaded.show(provide(h(Component), h(Component)));
      await untilShown(shown.text, 'errorerror');
      expect(last().error).toMatchObject({ _tag: 'ApiError', status: 403 });
      isRefused = false;
      participant.append(create(2, 'y'));
      const { reload } = last();
      await loaded.act(reload);
      await untilShown(shown.text, 'live xylive xy');
      expect(last().error).toBeUndefined();
      expect(last().reload).toBe(reload);
      await shown.unmount();
    });

    it('keeps the contracts before an update that does not decode beside the error', async () => {
      const { provide, participant } = world();
      const { Component, last } = shows(marblesOf);
      const shown = await loaded.show(provide(h(Component)));
      await untilShown(shown.text, 'live x');
      await loaded.act(() => {
        participant.append(undecodable(2), create(3, 'y'));
      });
      await untilShown(shown.text, 'error x');
      expect(last()).toMatchObject({ offset: 1, error: { _tag: 'DecodeError', offset: 2, updateId: '12202' } });
      expect(last().error?.message).toContain('Next: update canton-rx');
      await loaded.act(last().reload);
      await untilShown(shown.text, 'live xy');
      await shown.unmount();
    });

    it('forgets the contracts that are shown after clear, and reads them again with the rights of the next user', async () => {
      const { provide, contracts, participant, ...rest } = world();
      const { Component, results } = shows(marblesOf);
      const shown = await loaded.show(provide(h(Component)));
      await untilShown(shown.text, 'live x');
      results.splice(0);
      participant.append(archive(2, 'x'), create(3, 'z'));
      await loaded.act(() => {
        contracts.clear();
      });
      await untilShown(shown.text, 'live z');
      expect(results.slice(0, 2).map(brief)).toContain('loading');
      expect(snapshots(rest)).toBe(2);
      // a component that is mounted later shares the new view
      await shown.render(provide(h(Component), h(Component)));
      expect(shown.text()).toBe('live zlive z');
      expect(snapshots(rest)).toBe(2);
      await shown.unmount();
    });

    it('keeps the contracts as stale ones while they are read again, where no view is kept', async () => {
      const { client, participant, ...rest } = world();
      const contracts = shareContracts(client, { keepMs: 0 });
      opened.push(contracts);
      const { Component, results, last } = shows(marblesOf);
      const provider = { ledger: client, contracts, parties: [alice] };
      const shown = await loaded.show(h(loaded.hooks.LedgerProvider, provider, h(Component)));
      await untilShown(shown.text, 'live x');
      const before = snapshots(rest);
      const { reload } = last();
      results.splice(0);
      participant.append(create(2, 'y'));
      await loaded.act(reload);
      await untilShown(shown.text, 'live xy');
      expect(new Set(results.map(({ status }) => status))).not.toContain('loading');
      expect(snapshots(rest)).toBe(before + 1);
      await shown.unmount();
    });

    it('begins again where a component that shows an error is mounted anew', async () => {
      let isRefused = true;
      const { provide } = world({ fault: () => (isRefused ? refusal : undefined) });
      const { Component, results } = shows(marblesOf);
      const shown = await loaded.show(provide(h(Component)));
      await untilShown(shown.text, 'error');
      await shown.render(provide());
      isRefused = false;
      results.splice(0);
      await shown.render(provide(h(Component)));
      expect(brief(present(results[0]))).toBe('loading');
      await untilShown(shown.text, 'live x');
      await shown.unmount();
    });

    it('keeps the contracts as stale ones during an outage, and says why', async () => {
      let isDown = false;
      const { provide, participant } = world({
        fault: () => (isDown ? errorReply(503, 'down') : undefined),
        client: { retry: { baseDelayMs: 5, maxDelayMs: 5 } },
      });
      const { Component, last } = shows(marblesOf);
      const shown = await loaded.show(provide(h(Component)));
      await untilShown(shown.text, 'live x');
      isDown = true;
      await loaded.act(() => {
        participant.ledger.disconnect();
      });
      await untilShown(shown.text, 'stale x');
      expect(last().connection).toMatchObject({ status: 'retrying' });
      isDown = false;
      await untilShown(shown.text, 'live x');
      await shown.unmount();
    });

    it('has an error for a query without parties', async () => {
      const { client } = world();
      const { Component, last } = shows(() => loaded.hooks.useContracts({ types: { marble: Marble } }));
      const shown = await loaded.show(h(loaded.hooks.LedgerProvider, { ledger: client }, h(Component)));
      expect(shown.text()).toBe('error');
      expect(last().error).toBeInstanceOf(TypeError);
    });

    it('names the mistake without a provider, and with a type that is created in each render', async () => {
      const errors: unknown[] = [];
      class Boundary extends loaded.react.Component<React.PropsWithChildren, { readonly error: Error | undefined }> {
        override state = { error: undefined };
        static getDerivedStateFromError = (error: Error) => ({ error });
        override render(): React.ReactNode {
          return (this.state.error as Error | undefined)?.message ?? this.props.children;
        }
      }
      jest.spyOn(console, 'error').mockImplementation((...args) => errors.push(args));
      jest.spyOn(console, 'warn').mockImplementation((...args) => errors.push(args));
      const { Component } = shows(marblesOf);
      const alone = await loaded.show(h(Boundary, null, h(Component)));
      expect(alone.text()).toBe('useContracts needs a <LedgerProvider ledger={ledger}> above the component.');
      const { provide, service } = world();
      const each = shows(() =>
        loaded.hooks.useContracts({ types: { iou: contractType('#finance:Main:Iou', t.type({ owner: t.string })) } }),
      );
      const shown = await loaded.show(provide(h(Boundary, null, h(each.Component))));
      await loaded.until(() => shown.text().includes('another query'));
      expect(shown.text()).toContain('useContracts gets another query in each render');
      expect(service.requests.length).toBeLessThan(100);
    });
  });

  describe(`contracts of a test in React ${version}`, () => {
    const test = () => new loaded.testing.ContractsTestingController();
    const provide = (contracts: ReturnType<typeof test>, ...children: readonly React.ReactNode[]) =>
      h(loaded.testing.TestLedgerProvider, { contracts }, ...children);

    it('are selected and sorted, in the same array until one of them changes', async () => {
      const contracts = test();
      contracts.create(Iou, { owner: alice, amount: '2' }, options);
      contracts.create(Iou, { owner: bob, amount: '3' }, options);
      contracts.create(Iou, { owner: alice, amount: '1' }, options);
      const { Component, last } = shows(({ party }) =>
        loaded.hooks.useContracts(
          { types: { iou: Iou } },
          {
            select: ({ payload }) => payload?.owner === party,
            compare: (a, b) => (a.payload?.amount ?? '').localeCompare(b.payload?.amount ?? ''),
          },
        ),
      );
      const shown = await loaded.show(provide(contracts, h(Component)));
      const amounts = () => last().contracts.map(({ payload }) => (payload as { amount: string }).amount);
      expect(amounts()).toEqual(['1', '2']);
      const before = last().contracts;
      await shown.render(provide(contracts, h(Component)));
      await loaded.act(() => contracts.create(Iou, { owner: bob, amount: '0' }, options));
      expect(last().contracts).toBe(before);
      await loaded.act(() => contracts.create(Iou, { owner: alice, amount: '0' }, options));
      expect(amounts()).toEqual(['0', '1', '2']);
      await shown.render(provide(contracts, h(Component, { party: bob })));
      expect(amounts()).toEqual(['0', '3']);
      await shown.unmount();
    });

    it('are the same result object in renders without a change', async () => {
      const contracts = test();
      const { Component, last } = shows(() => loaded.hooks.useContracts({ types: { iou: Iou } }));
      const shown = await loaded.show(provide(contracts, h(Component)));
      const before = last();
      await shown.render(provide(contracts, h(Component)));
      expect(last()).toBe(before);
      await shown.unmount();
    });

    it('are loading, stale and refused as the test wants', async () => {
      const contracts = test();
      contracts.hold();
      const { Component, last } = shows(() => loaded.hooks.useContracts({ types: { iou: Iou } }));
      const shown = await loaded.show(provide(contracts, h(Component)));
      expect(shown.text()).toBe('loading');
      await loaded.act(() => {
        contracts.release();
      });
      expect(shown.text()).toBe('live');
      await loaded.act(() => {
        contracts.disconnect();
      });
      expect(shown.text()).toBe('stale');
      await loaded.act(() => {
        contracts.refuse();
      });
      expect(shown.text()).toBe('error');
      await loaded.act(() => {
        contracts.release();
        last().reload();
      });
      expect(shown.text()).toBe('live');
      await shown.unmount();
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
      const shown = await loaded.show(provide(contracts, h(One, { id })));
      expect(shown.text()).toBe('live 2 iou');
      await shown.render(provide(contracts, h(One, { id: null })));
      expect(shown.text()).toBe('idle undefined undefined');
      await shown.render(provide(contracts, h(One, { id })));
      await loaded.act(() => {
        contracts.archive(id);
      });
      expect(shown.text()).toBe('live undefined undefined');
      await shown.unmount();
    });
  });

  describe(`useSubmit in React ${version}`, () => {
    const transaction = { _tag: 'Transaction', updateId: 'u1', offset: 2 } as SubmittedTransaction;
    const request: CommandsRequest = { actAs: [alice], commands: [createCommand(Iou, { owner: alice, amount: '1' })] };

    /** A ledger whose submissions end when the test says so. */
    function submissions() {
      const sent: Subject<SubmittedTransaction>[] = [];
      const ledger = {
        ...contractsWorld().client,
        submitAndWaitForTransaction: () =>
          new Observable<SubmittedTransaction>((subscriber) => {
            const outcome$ = new Subject<SubmittedTransaction>();
            sent.push(outcome$);
            return outcome$.subscribe(subscriber);
          }),
      } as Ledger;
      const commit = (index = sent.length - 1) =>
        loaded.act(() => {
          sent[index]?.next(transaction);
          sent[index]?.complete();
        });
      const fail = () => loaded.act(() => sent.at(-1)?.error(new Error('lost')));
      return { ledger, sent, commit, fail };
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
      const shown = await loaded.show(h(loaded.testing.TestLedgerProvider, { contracts, ledger }, h(Form)));
      return { shown, last: () => present(states.at(-1)) };
    }

    it('submits once for a double click, and has the outcome', async () => {
      const { ledger, sent, commit } = submissions();
      const { shown, last } = await form(ledger);
      expect(shown.text()).toBe('ready undefined');
      const { submit, reset } = last();
      let results: Promise<unknown[]> | undefined;
      await loaded.act(() => {
        results = Promise.all([submit(request), submit(request)]);
      });
      expect(shown.text()).toBe('pending undefined');
      expect(sent).toHaveLength(1);
      await commit();
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
      const { ledger, sent, commit, fail } = submissions();
      const made = jest.spyOn(ledger, 'submitAndWaitForTransaction');
      const { shown, last } = await form(ledger);
      await loaded.act(() => last().retry());
      expect(sent).toHaveLength(0);
      await loaded.act(() => void last().submit(request));
      await fail();
      expect(last().outcome).toEqual({ _tag: 'Failed', error: new Error('lost') });
      await loaded.act(() => void last().retry());
      expect(shown.text()).toBe('pending undefined');
      await commit();
      expect(shown.text()).toBe('ready Committed');
      expect([made.mock.calls.length, sent.length]).toEqual([1, 2]);
    });

    it.each([undefined, null, 'a click'])(
      'has an outcome that says what is missing if it is given %p',
      async (given) => {
        const { shown, last } = await form(contractsWorld().client);
        await loaded.act(async () => {
          await last().submit(given as unknown as CommandsRequest);
        });
        expect(shown.text()).toBe('ready Failed');
        expect(last().outcome).toMatchObject({ error: { _tag: 'InvalidRequestError' } });
      },
    );

    it('continues when the component is unmounted', async () => {
      const { ledger, sent } = submissions();
      const { shown, last } = await form(ledger);
      let outcome: Promise<unknown> | undefined;
      await loaded.act(() => {
        outcome = last().submit(ledger.submitAndWaitForTransaction(request));
      });
      await shown.unmount();
      expect(sent[0]?.observed).toBe(true);
      sent[0]?.next(transaction);
      sent[0]?.complete();
      expect(await outcome).toMatchObject({ _tag: 'Committed' });
    });
  });
}
