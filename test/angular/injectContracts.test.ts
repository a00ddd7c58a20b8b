import '@angular/compiler';
import {
  Component,
  computed,
  createComponent,
  EnvironmentInjector,
  inject as injectToken,
  Injector,
  provideZonelessChangeDetection,
  RendererFactory2,
  signal,
  TransferState,
} from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { describe, expect, it } from '@jest/globals';
import { NEVER, noop } from 'rxjs';
import {
  injectClearContracts,
  injectContracts,
  type ContractsResource,
  LEDGER,
  provideLedger,
} from '../../src/angular/index.js';
import { archive, create, marbles, undecodable } from '../contracts/joinSupport.js';
import type { HistoryUpdate } from '../helpers/contractHistory.js';
import { observe } from '../helpers/observe.js';
import { stopClock, until } from '../helpers/time.js';
import { contractsWorld, type ContractsWorld } from '../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import type { WorldOptions } from '../helpers/world.js';
import { childInjector, idsOf, inject } from './support.js';

const baseUrl = 'http://ledger.example';
const { types } = marbles;
const [alice, bob] = ['alice::1220ab', 'bob::1220ab'];
const refusal = errorReply(403, errorBody('PERMISSION_DENIED', 7));

/** A participant with a contract `x`, and an application with its ledger. */
function application({ retryMs = 5, giveUpAfterMs = 300_000 } = {}, injectTokens?: () => () => string) {
  /** What the participant replies to each request, if it does not answer it. */
  const trouble: { reply: ReturnType<NonNullable<WorldOptions['fault']>> } = { reply: undefined };
  const world = contractsWorld({ latencyMs: 1, fault: () => trouble.reply });
  world.participant.append(create(1, 'x'));
  TestBed.configureTestingModule({
    providers: [
      provideZonelessChangeDetection(),
      { provide: TransferState, useValue: new TransferState() },
      provideLedger(() => {
        const retry = { baseDelayMs: retryMs, maxDelayMs: retryMs, giveUpAfterMs };
        return { baseUrl, port: world.service.port, token: injectTokens?.(), retry };
      }),
    ],
  });
  return { ...world, trouble };
}

/** A resource of a query by signals. */
function showBy(...query: Parameters<typeof injectContracts>): ContractsResource {
  const resource = inject(() => injectContracts(...query));
  TestBed.tick();
  return resource;
}

/** An application that shows the contract. */
async function live() {
  const world = application();
  const resource = inject(() => injectContracts(marbles));
  await until(resource.isLive);
  return { ...world, resource };
}

/** Commits updates, and waits until a resource shows them. */
const commit = async (
  participant: ContractsWorld['participant'],
  resource: ContractsResource,
  ...updates: readonly HistoryUpdate[]
): Promise<void> => {
  participant.append(...updates);
  await until(() => resource.offset() === updates.at(-1)?.offset);
};

/** All signals of a resource that say what it is worth. */
const brief = (resource: ContractsResource): string =>
  [resource.status(), resource.hasValue() ? `known ${idsOf(resource)}` : `unknown ${idsOf(resource)}`.trim()]
    .concat(resource.isLive() ? 'live' : [])
    .join(', ');

const snapshots = ({ service }: Pick<ContractsWorld, 'service'>): number =>
  service.requests.filter(({ path }) => path.includes('active-contracts')).length;

describe('injectContracts', () => {
  it('shows the contracts of a query, and follows them', async () => {
    const { participant } = application();
    const resource = inject(() => injectContracts(marbles));
    expect(brief(resource)).toBe('loading, unknown');
    expect([resource.isLoading(), resource.offset()]).toEqual([true, undefined]);
    expect(resource.connection()).toEqual({ status: 'connecting' });
    expect(resource.snapshot()).toEqual({ status: 'loading', value: [] });
    await until(resource.isLive);
    expect(brief(resource)).toBe('resolved, known x, live');
    expect([resource.isLoading(), resource.connection()]).toEqual([false, { status: 'open' }]);
    await commit(participant, resource, archive(2, 'x'), create(3, 'y'), create(4, 'z'));
    expect(brief(resource)).toBe('resolved, known yz, live');
    const color: string | undefined = resource.value()[0]?.payload?.color;
    expect(color).toBe('green');
    await commit(participant, resource, archive(5, 'y'), archive(6, 'z'));
    expect([resource.hasValue(), resource.value()]).toEqual([true, []]);
  });

  it('keeps the order of compare, and the objects of contracts that have not changed', async () => {
    const { participant } = application();
    participant.append(create(2, 'a', 'z'));
    const resource = inject(() =>
      injectContracts(marbles, { compare: (a, b) => a.contractId.localeCompare(b.contractId) }),
    );
    await until(resource.isLive);
    const [a, x] = resource.value();
    await commit(participant, resource, create(3, 'm'));
    expect(idsOf(resource)).toBe('amxz');
    expect(resource.value()[0]).toBe(a);
    expect(resource.value()[2]).toBe(x);
  });

  it('ends with the injector, and its view, which is at once that of an equal query, 30 seconds later', async () => {
    const { participant, ...world } = application();
    const [first, second] = [childInjector(), childInjector()];
    const resource = injectContracts(marbles, { injector: first.get(Injector) });
    await until(resource.isLive);
    first.destroy();
    expectStale(resource);
    expect(resource.reload()).toBe(false);
    const equal = { parties: [alice], types: { ...types } };
    const later = injectContracts(equal, { injector: second.get(Injector) });
    expect(brief(later)).toBe('resolved, known x, live');
    await commit(participant, later, create(2, 'y'));
    expect(brief(later)).toBe('resolved, known xy, live');
    // the feed; other requests, for a diagnostic, end
    await until(() => world.service.open === 1);
    const clock = stopClock();
    second.destroy();
    await clock.advance(29_999);
    expect([snapshots(world), world.service.open]).toEqual([1, 1]);
    await clock.advance(1);
    expect(world.service.open).toBe(0);
  });

  it('begins nothing with the injector of a component that is destroyed', () => {
    const { service } = application();
    const injector = injectorOfDestroyedComponent();
    for (const query of [marbles, () => marbles]) expect(() => injectContracts(query, { injector })).toThrow(/NG0?911/);
    TestBed.tick();
    expect(service.requests).toEqual([]);
  });

  it('is stale for good when the injector of its ledger is destroyed', async () => {
    const { service } = application();
    const route = childInjector(provideLedger({ baseUrl, port: service.port }));
    const resource = inject(() => injectContracts(marbles, { ledger: route.get(LEDGER) }));
    await until(resource.isLive);
    route.destroy();
    expect(service.open).toBe(0);
    expectStale(resource);
  });

  it('is neither reloaded nor awaited when the injector of its ledger is destroyed', async () => {
    const { service } = application();
    const route = childInjector(provideLedger({ baseUrl, port: service.port }));
    const resource = inject(() => injectContracts(marbles, { ledger: route.get(LEDGER) }));
    await until(resource.isLive);
    const awaited = observe(resource.after({ offset: 9, synchronizerId: 's', recordTime: '2026-01-01T00:00:00Z' }));
    route.destroy();
    expect(awaited).toMatchObject({ values: [], completed: true });
    expect(resource.reload()).toBe(false);
    expect([brief(resource), resource.connection()]).toEqual(['resolved, known x', undefined]);
  });

  it('keeps its error, and is not reloaded, when the injector of its ledger is destroyed', async () => {
    const { service, trouble } = application();
    trouble.reply = errorReply(403, errorBody('PERMISSION_DENIED', 7));
    const route = childInjector(provideLedger({ baseUrl, port: service.port }));
    const resource = inject(() => injectContracts(marbles, { ledger: route.get(LEDGER) }));
    await until(() => resource.status() === 'error');
    route.destroy();
    expect(resource.reload()).toBe(false);
    expect([resource.status(), resource.isLoading()]).toEqual(['error', false]);
  });

  it('is not reloaded while there is no query to read', () => {
    application();
    const resource = showBy(() => {
      throw new Error('no party yet');
    });
    expect([resource.status(), resource.reload(), resource.status()]).toEqual(['error', false, 'error']);
  });

  it('needs an injection context or an injector', () => {
    application();
    expect(() => injectContracts(marbles)).toThrow(
      'injectContracts was called outside an injection context. Call it in a field initializer',
    );
    expect(injectContracts(marbles, { injector: TestBed.inject(Injector) }).status()).toBe('loading');
  });
});

/** A resource has its contracts, and nothing brings others. */
function expectStale(resource: ContractsResource): void {
  expect(brief(resource)).toBe('resolved, known x');
  expect(resource.staleSince()).toBeLessThanOrEqual(Date.now());
  expect(resource.connection()).toBeUndefined();
}

describe('injectContracts in the form of a resource of Angular', () => {
  it('has a snapshot of the status with the contracts or the error', async () => {
    const { participant, resource, trouble } = await live();
    const before = resource.snapshot();
    expect(before).toEqual({ status: 'resolved', value: resource.value() });
    // changes only the offset
    await commit(participant, resource, create(2, 'z'), archive(3, 'z'));
    expect(resource.snapshot()).toEqual(before);
    trouble.reply = refusal;
    participant.append(create(4, 'y'));
    await until(() => resource.status() === 'error');
    expect(resource.snapshot()).toEqual({ status: 'error', error: resource.error() });
  });

  it('marks contracts of another ledger, until it is reloaded', async () => {
    const clock = stopClock();
    const { participant } = application({ retryMs: 500, giveUpAfterMs: 10_000 });
    participant.append(create(2, 'y'));
    const resource = inject(() => injectContracts(marbles));
    await clock.advance(100);
    expect([brief(resource), resource.reset()]).toEqual(['resolved, known xy, live', undefined]);
    participant.ledger.restore(1);
    // the ledger end is before the cursor for longer than the policy allows
    await clock.advance(15_000);
    expect([idsOf(resource), resource.reset()?.offset]).toEqual(['x', 1]);
    const { at } = resource.reset() ?? {};
    expect(at).toBeLessThan(Date.now());
    participant.append(create(2, 'z'));
    await clock.advance(1_000);
    expect([idsOf(resource), resource.reset()]).toEqual(['xz', { offset: 1, at }]);
    resource.reload();
    await clock.advance(1_000);
    expect([resource.status(), resource.isLive(), resource.reset()]).toEqual(['resolved', true, undefined]);
  });
});

describe('injectContracts with a query by signals', () => {
  it('explains itself when it is called within a computed signal', () => {
    application();
    const party = signal(alice);
    const injector = TestBed.inject(Injector);
    const wrong = computed(() => injectContracts({ types, parties: [party()] }, { injector }).value());
    expect(wrong).toThrow('injectContracts was called within computed, effect or a template');
    expect(wrong).toThrow('injectContracts(() => ({ parties: [party()] }))');
  });

  it.each([
    ['the query', () => signal(marbles)],
    ['the parties', () => ({ types, parties: signal([alice]) })],
  ])('has an error that names the mistake if a signal is in place of %s', (_, query) => {
    application();
    expect(showBy(query as unknown as () => typeof marbles).error()).toEqual(
      new TypeError('The query has a signal in place of its value. Call the signal: ({ parties: [party()] }).'),
    );
  });

  it('is idle without a query, and forgets the contracts then', async () => {
    const { service } = application();
    const party = signal<string | undefined>(undefined);
    const resource = showBy(() => {
      const current = party();
      return current === undefined ? undefined : { types, parties: [current] };
    });
    // JavaScript may return null
    const noQuery = showBy(() => JSON.parse('null') as typeof marbles);
    expect([resource, noQuery].map(brief)).toEqual(['idle, unknown', 'idle, unknown']);
    expect([resource.connection(), resource.reload(), service.requests]).toEqual([undefined, false, []]);
    party.set(alice);
    TestBed.tick();
    await until(resource.isLive);
    party.set(undefined);
    expect(brief(resource)).toBe('idle, unknown');
    TestBed.tick();
    expect(brief(resource)).toBe('idle, unknown');
  });

  it('is a new view for another query, empty from the moment of the change', async () => {
    const { participant, service } = application();
    const party = signal(alice);
    const resource = showBy(() => ({ types, parties: [party()] }));
    await until(resource.isLive);
    party.set(bob);
    expect(brief(resource)).toBe('loading, unknown');
    expect(resource.offset()).toBeUndefined();
    // an update that the view of Alice would have shown
    participant.append(create(2, 'y'));
    expect(brief(resource)).toBe('loading, unknown');
    TestBed.tick();
    await until(resource.isLive);
    const [first, second] = service.requests.filter(({ path }) => path.includes('active-contracts'));
    expect(JSON.stringify(first?.body)).toContain(alice);
    expect(JSON.stringify(second?.body)).toContain(bob);
    expect(JSON.stringify(second?.body)).not.toContain(alice);
  });

  it('goes on with a query that is equal', async () => {
    const world = application();
    const count = signal(0);
    const query = () => ({ types: { ...types }, parties: [alice].slice(0, 1 + count()), onGap: undefined });
    const resource = showBy(query);
    await until(resource.isLive);
    count.set(1);
    expect(brief(resource)).toBe('resolved, known x, live');
    TestBed.tick();
    expect(snapshots(world)).toBe(1);
  });

  it('reads from another ledger, and is idle without one', async () => {
    const { client } = application();
    const other = contractsWorld({ latencyMs: 1 });
    other.participant.append(create(1, 'q'));
    const ledger = signal<typeof client | undefined>(client);
    const resource = showBy(marbles, { ledger });
    await until(resource.isLive);
    expect(idsOf(resource)).toBe('x');
    ledger.set(other.client);
    expect(brief(resource)).toBe('loading, unknown');
    TestBed.tick();
    await until(resource.isLive);
    expect(idsOf(resource)).toBe('q');
    ledger.set(undefined);
    expect(resource.status()).toBe('idle');
  });

  it('has the error of a function that throws, until it does not', async () => {
    application();
    const party = signal<string | undefined>(undefined);
    const resource = showBy(() => {
      const current = party();
      if (current === undefined) throw new TypeError('no party yet');
      return { types, parties: [current] };
    });
    expect(brief(resource)).toBe('error, unknown');
    expect(resource.error()).toEqual(new TypeError('no party yet'));
    party.set(alice);
    expect(brief(resource)).toBe('loading, unknown');
    TestBed.tick();
    await until(resource.isLive);
    expect(idsOf(resource)).toBe('x');
  });
});

describe('injectClearContracts', () => {
  it('shows no contract of the former user any more, and reads them again with the token of the next', async () => {
    // a service that knows the user, on which the ledger depends
    class Login {
      readonly clearContracts = injectClearContracts();
      token = 'of-alice';
    }
    const { service, participant } = application({}, () => {
      const user = injectToken(Login);
      return () => user.token;
    });
    TestBed.configureTestingModule({ providers: [{ provide: Login }] });
    const login = TestBed.inject(Login);
    const bobs = { types, parties: [bob] };
    const route = childInjector();
    const shown = inject(() => injectContracts(marbles));
    await until(shown.isLive);
    await until(injectContracts(bobs, { injector: route.get(Injector) }).isLive);
    route.destroy();
    const sent = service.requests.length;
    login.token = 'of-bob';
    login.clearContracts();
    const resources = [shown, inject(() => injectContracts(bobs))];
    expect(resources.map(brief)).toEqual(Array(2).fill('loading, unknown'));
    expect(resources.map(({ offset }) => offset())).toEqual([undefined, undefined]);
    participant.append(archive(2, 'x'), create(3, 'y'));
    await until(() => resources.every(({ isLive }) => isLive()));
    expect(resources.map(brief)).toEqual(Array(2).fill('resolved, known y, live'));
    const tokens = service.requests.map((request) => request.token);
    expect(new Set(tokens.slice(0, sent))).toEqual(new Set(['of-alice']));
    expect(new Set(tokens.slice(sent))).toEqual(new Set(['of-bob']));
    await until(() => service.open === 2);
  });

  it('leaves the contracts of other ledgers, and those of views that have ended', async () => {
    application();
    const other = contractsWorld({ latencyMs: 1 });
    other.participant.append(create(1, 'q'));
    const child = childInjector();
    const elsewhere = inject(() => injectContracts(marbles, { ledger: other.client }));
    const ended = injectContracts(marbles, { injector: child.get(Injector) });
    await until(() => elsewhere.isLive() && ended.isLive());
    child.destroy();
    inject(injectClearContracts)();
    expect([elsewhere, ended].map(brief)).toEqual(['resolved, known q, live', 'resolved, known x']);
  });
});

describe('injectContracts when something goes wrong', () => {
  it('has the error that ends a view, no contracts, and begins again with reload', async () => {
    const { participant, resource, trouble } = await live();
    trouble.reply = refusal;
    participant.append(create(2, 'y'));
    await until(() => resource.status() === 'error');
    expect(brief(resource)).toBe('error, unknown');
    expect(resource.error()).toMatchObject({ _tag: 'ApiError', status: 403 });
    expect(resource.connection()).toBeUndefined();
    trouble.reply = undefined;
    expect(resource.reload()).toBe(true);
    expect(brief(resource)).toBe('loading, unknown');
    expect(resource.reload()).toBe(false);
    await until(resource.isLive);
    expect([brief(resource), resource.error()]).toEqual(['resolved, known xy, live', undefined]);
  });

  it('keeps the contracts before an update that does not decode, as stale ones beside the error', async () => {
    const { participant, resource } = await live();
    participant.append(undecodable(2), create(3, 'y'));
    await until(() => resource.status() === 'error');
    expect(brief(resource)).toBe('error, known x');
    expect([resource.offset(), resource.staleSince()]).toEqual([1, expect.any(Number)]);
    expect(resource.error()).toMatchObject({ _tag: 'DecodeError', offset: 2, updateId: '12202' });
    expect(resource.error()?.message).toContain('Next: update canton-rx');
    expect(resource.reload()).toBe(true);
    expect(brief(resource)).toBe('reloading, known x');
    await until(resource.isLive);
    expect([brief(resource), resource.error()]).toEqual(['resolved, known xy, live', undefined]);
  });

  it('has an error for an invalid query', () => {
    application();
    const resource = inject(() => injectContracts({ types, parties: [] }));
    expect([brief(resource), resource.error()]).toEqual(['error, unknown', expect.any(TypeError)]);
  });

  it('has the error of an order that throws', async () => {
    const { participant } = application();
    participant.append(create(2, 'y'));
    const compare = (): never => {
      throw new Error('no order');
    };
    const resource = inject(() => injectContracts(marbles, { compare }));
    await until(() => resource.status() === 'error');
    expect(resource.error()).toEqual(new Error('no order'));
  });

  it('keeps the contracts as stale ones during an outage, and says why and since when', async () => {
    const { participant, resource, trouble } = await live();
    expect(resource.staleSince()).toBeUndefined();
    const before = Date.now();
    trouble.reply = errorReply(503, 'down');
    participant.ledger.disconnect();
    await until(() => resource.connection()?.status === 'retrying');
    expect(brief(resource)).toBe('resolved, known x');
    const since = resource.staleSince();
    expect(since).toBeGreaterThanOrEqual(before);
    const attempt = (): number => {
      const connection = resource.connection();
      return connection?.status === 'retrying' ? connection.attempt : 0;
    };
    const first = attempt();
    await until(() => attempt() > first);
    expect(resource.staleSince()).toBe(since);
    participant.append(create(2, 'y'));
    trouble.reply = undefined;
    await until(resource.isLive);
    expect(brief(resource)).toBe('resolved, known xy, live');
    expect(resource.staleSince()).toBeUndefined();
  });

  it('reloads all resources with an equal query, also after an error', async () => {
    const { resource: first, trouble, ...world } = await live();
    const second = inject(() => injectContracts(marbles));
    const both = (): string[] => [first, second].map(brief);
    // each has its own frame: one of them is live first
    const areLive = (): boolean => first.isLive() && second.isLive();
    await until(areLive);
    first.reload();
    expect(both()).toEqual(Array(2).fill('reloading, known x'));
    await until(areLive);
    expect(both()).toEqual(Array(2).fill('resolved, known x, live'));
    expect(snapshots(world)).toBe(2);
    trouble.reply = refusal;
    world.participant.append(create(2, 'y'));
    await until(() => first.status() === 'error' && second.status() === 'error');
    trouble.reply = undefined;
    first.reload();
    await until(areLive);
    expect(both()).toEqual(Array(2).fill('resolved, known xy, live'));
  });

  it('shows the contracts from before while it reloads', async () => {
    const { resource, trouble, ...world } = await live();
    const before = resource.value();
    trouble.reply = NEVER;
    expect(resource.reload()).toBe(true);
    expect([brief(resource), resource.isLoading()]).toEqual(['reloading, known x', true]);
    expect(resource.value()).toBe(before);
    expect(resource.staleSince()).toBeLessThanOrEqual(Date.now());
    trouble.reply = undefined;
    world.participant.append(create(2, 'y'));
    expect(resource.reload()).toBe(true);
    await until(resource.isLive);
    expect(brief(resource)).toBe('resolved, known xy, live');
    await until(() => world.service.open === 1);
  });
});

/** A component without a page. */
function injectorOfDestroyedComponent(): Injector {
  class Page {
    readonly injector = injectToken(Injector);
  }
  Component({ selector: 'app-page', template: '' })(Page);
  const hostElement = {} as Element;
  const renderer = { selectRootElement: () => hostElement, setAttribute: noop, destroy: noop };
  TestBed.overrideProvider(RendererFactory2, { useValue: { createRenderer: () => renderer } });
  const page = createComponent(Page, { environmentInjector: TestBed.inject(EnvironmentInjector), hostElement });
  page.destroy();
  return page.instance.injector;
}
