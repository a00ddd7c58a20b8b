/** @jest-environment-options {"globalsCleanup":"off"} */
// zone.js patches globals that Jest would delete
import '@angular/compiler';
import 'zone.js';
import {
  NgZone,
  PendingTasks,
  PLATFORM_ID,
  provideZoneChangeDetection,
  TransferState,
  type EnvironmentProviders,
} from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { firstValueFrom, NEVER, throwError } from 'rxjs';
import {
  injectClearContracts,
  injectContracts,
  injectLedger,
  type ContractsResource,
  provideLedger,
  withPendingTasks,
} from '../../src/angular/index.js';
import { contractType } from '../../src/codecs/TemplateType.js';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { ledgerSession, type LedgerSession } from '../../src/session/index.js';
import { archive, create, marbles } from '../contracts/joinSupport.js';
import { marble } from '../helpers/contractEvents.js';
import { stopClock, until } from '../helpers/time.js';
import { contractsWorld, type ContractsWorld } from '../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { idsOf, inject } from './support.js';

const baseUrl = 'http://ledger.example';
const refusal = errorReply(403, errorBody('PERMISSION_DENIED', 7));
/** The status of a resource, and what it shows. */
const brief = (resource: ContractsResource): string => `${resource.status()} ${idsOf(resource)}`.trim();

/** A participant with contracts. */
function worldWith(...contractIds: readonly string[]): ContractsWorld {
  const world = contractsWorld({ latencyMs: 1 });
  world.participant.append(create(1, ...contractIds));
  return world;
}

/** An application on a server or in a browser, with what a page transfers. */
function application(
  platform: 'server' | 'browser',
  { service }: { readonly service: Pick<ContractsWorld['service'], 'port'> },
  state = new TransferState(),
  ...providers: readonly EnvironmentProviders[]
): TransferState {
  TestBed.resetTestingModule();
  TestBed.configureTestingModule({
    providers: [
      provideZoneChangeDetection(),
      { provide: PLATFORM_ID, useValue: platform },
      { provide: TransferState, useValue: state },
      provideLedger({ baseUrl, port: service.port, retry: { baseDelayMs: 5 } }),
      ...providers,
    ],
  });
  return state;
}

/** What a page has of a state: its script is parsed again. */
function transferred(state: TransferState): TransferState {
  const copy = new TransferState();
  Object.assign(copy, { store: JSON.parse(state.toJson()) as object });
  return copy;
}

describe('injectContracts on a server', () => {
  it('reads one snapshot, and leaves nothing open', async () => {
    const world = worldWith('x');
    application('server', world);
    const resource = inject(() => injectContracts(marbles));
    await until(() => resource.hasValue());
    expect([brief(resource), resource.isLive()]).toEqual(['resolved x', false]);
    expect(world.service.open).toBe(0);
    // the last update before it, and that of the newest contract, as a proof, but no poll
    const updates = world.service.requests.filter(({ path }) => path.includes('updates'));
    expect(updates.map(({ body }) => [body['endInclusive'], body['descendingOrder']])).toEqual([
      [1, true],
      [1, false],
    ]);
  });

  it('keeps the application unstable until it is there, by the zone', async () => {
    const world = contractsWorld({ latencyMs: 1 });
    application('server', world);
    const zone = TestBed.inject(NgZone);
    const resource = zone.run(() => inject(() => injectContracts(marbles)));
    expect(zone.hasPendingMacrotasks).toBe(true);
    await until(() => !zone.hasPendingMacrotasks);
    expect(resource.hasValue()).toBe(true);
  });

  it('keeps the application unstable until it is there, with withPendingTasks', async () => {
    const world = contractsWorld({ latencyMs: 1 });
    const port = world.service.port;
    application('server', world, new TransferState(), provideLedger({ baseUrl, port }, withPendingTasks(PendingTasks)));
    const seen: string[] = [];
    const tasks = TestBed.inject(PendingTasks);
    const add = tasks.add.bind(tasks);
    tasks.add = () => {
      seen.push('begun');
      const end = add();
      return () => {
        seen.push(`ended, known: ${resource.hasValue()}`);
        end();
      };
    };
    const resource = inject(() => injectContracts(marbles));
    expect(seen).toEqual(['begun']);
    await until(() => seen.length === 2);
    expect(seen).toEqual(['begun', 'ended, known: true']);
  });

  it('does not wait for a ledger longer than 5 seconds', async () => {
    const { service } = contractsWorld({ fault: () => NEVER });
    application('server', { service });
    const clock = stopClock();
    const resource = inject(() => injectContracts(marbles));
    await clock.advance(4_999);
    expect(service.open).toBe(1);
    await clock.advance(1);
    expect(service.open).toBe(0);
    expect(resource.status()).toBe('loading');
  });
});

describe('a ledger that cannot be reached from a server', () => {
  const port = () => throwError(() => Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' }));

  it('does not delay the page, and the page does not name it', async () => {
    application('server', { service: { port } });
    const zone = TestBed.inject(NgZone);
    const resource = zone.run(() => inject(() => injectContracts(marbles)));
    expect(zone.hasPendingMacrotasks).toBe(false);
    expect([resource.status(), resource.connection()]).toEqual(['loading', { status: 'connecting' }]);
    const failure: unknown = await firstValueFrom(inject(injectLedger).ledgerEnd()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ _tag: 'ConnectionError', code: 'ECONNREFUSED', host: undefined });
    expect(String(failure)).toContain('The ledger cannot be reached (ECONNREFUSED).');
    expect(String(failure)).not.toContain('ledger.example');
  });

  it('is not named by an error either that it has answered with, and the page is given nothing', async () => {
    const { service } = contractsWorld({ fault: () => refusal });
    const state = application('server', { service });
    const resource = inject(() => injectContracts(marbles));
    await until(() => resource.status() === 'error');
    expect(resource.error()?.message).toMatch(/^The ledger answered 403/);
    expect(state.isEmpty).toBe(true);
  });
});

describe('injectContracts in a browser after that', () => {
  const noSooner = { service: contractsWorld({ fault: () => NEVER }).service };

  async function rendered(...ids: readonly string[]): Promise<TransferState> {
    const state = application('server', worldWith(...ids));
    const byId = (a: AnyContract, b: AnyContract): number => (a.contractId < b.contractId ? -1 : 1);
    const resource = inject(() => injectContracts(marbles, { compare: byId }));
    await until(() => resource.hasValue());
    return transferred(state);
  }

  it('shows what the server has read, decoded by the types of the query, until its own view is there', async () => {
    const state = await rendered('y', 'x');
    const world = worldWith('y', 'x');
    world.participant.append(archive(2, 'x'));
    application('browser', world, state);
    const resource = inject(() => injectContracts(marbles));
    expect([brief(resource), resource.offset()]).toEqual(['reloading xy', 1]);
    expect([resource.isLive(), resource.hasValue()]).toEqual([false, true]);
    expect(resource.staleSince()).toBeLessThanOrEqual(Date.now());
    const location = { synchronizerId: 'home::1220ab' };
    expect(resource.value()[0]).toMatchObject({ payload: { color: 'red' }, location });
    await until(resource.isLive);
    expect(brief(resource)).toBe('resolved y');
    const later = inject(() => injectContracts({ ...marbles, onGap: 'fail' }));
    expect(later.status()).toBe('loading');
  });

  it('does not show it for another query, or another ledger', async () => {
    const state = await rendered('x');
    application('browser', noSooner, state);
    const ledger = createLedger({ baseUrl, port: noSooner.service.port });
    expect(inject(() => injectContracts({ ...marbles, parties: ['bob::1220ab'] })).status()).toBe('loading');
    expect(inject(() => injectContracts(marbles, { ledger })).status()).toBe('loading');
    expect(inject(() => injectContracts(marbles)).status()).toBe('reloading');
  });

  it('does not show what it cannot read', async () => {
    const state = await rendered('x');
    const store = Reflect.get(state, 'store') as Record<string, Record<string, { contracts: { created: object }[] }>>;
    const contracts = Object.values(store).flatMap(Object.values<{ contracts: object[] }>);
    expect(contracts).toHaveLength(1);
    for (const each of contracts.flatMap((of) => of.contracts)) Object.assign(each, { created: {} });
    application('browser', noSooner, state);
    expect(inject(() => injectContracts(marbles)).status()).toBe('loading');
  });

  it('has contracts that do not decode by its own types as such', async () => {
    const state = await rendered('x');
    application('browser', noSooner, state);
    const types = { marble: contractType(marble, t.type({ weight: t.number })) };
    const resource = inject(() => injectContracts({ ...marbles, types }));
    expect(resource.value()[0]?._tag).toBe('UndecodedContract');
  });

  it('does not show it once the ledger has refused the contracts', async () => {
    const state = await rendered('x');
    let isHeld = false;
    application('browser', contractsWorld({ fault: () => (isHeld ? NEVER : refusal) }), state);
    const resource = inject(() => injectContracts(marbles));
    await until(() => resource.status() === 'error');
    isHeld = true;
    resource.reload();
    const later = inject(() => injectContracts(marbles));
    expect([resource, later].map(brief)).toEqual(['loading', 'loading']);
  });

  it('does not show it after a logout, whether its query was shown before or not', async () => {
    const state = await rendered('x');
    application('browser', noSooner, state);
    const shown = inject(() => injectContracts(marbles));
    expect(brief(shown)).toBe('reloading x');
    inject(injectClearContracts)();
    const later = inject(() => injectContracts({ ...marbles, types: { ...marbles.types } }));
    expect([shown, later].map(brief)).toEqual(['loading', 'loading']);
  });

  it.each<[string, (session: LedgerSession, user: { now: string }) => unknown]>([
    ['a sign-out', (session) => session.signOut()],
    [
      'the sign-in of another user',
      (session, user) => {
        user.now = 'bob';
        return session.signIn();
      },
    ],
  ])('does not show it to the next user of a session after %s, if it was not shown before', async (_, leave) => {
    const state = await rendered('x');
    const user = { now: 'alice' };
    const token = () => `header.${btoa(JSON.stringify({ sub: user.now }))}.signature`;
    const session = ledgerSession({ token, name: 'of a rendered page' });
    const { port } = noSooner.service;
    const options = { baseUrl, port, token: session.token, interceptors: [session] };
    application('browser', noSooner, state, provideLedger(options));
    await session.signIn();
    await leave(session, user);
    expect(await session.signIn()).toBe('active');
    expect(brief(inject(() => injectContracts(marbles)))).toBe('loading');
  });

  it('is given no more than 500 contracts of a query', async () => {
    const state = await rendered(...Array.from({ length: 501 }, (_, i) => `c${i}`));
    expect(state.isEmpty).toBe(true);
  });
});
