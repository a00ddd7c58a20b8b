import { Injector, provideZonelessChangeDetection, TransferState } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import {
  injectClearContracts,
  injectContracts,
  injectLedger,
  provideContracts,
  provideLedger,
} from '../../src/angular/index.js';
import { contractType } from '../../src/codecs/TemplateType.js';
import type { ContractTypes } from '../../src/contracts/Contract.js';
import { shareContractsOf } from '../../src/contracts/index.js';
import { createSandbox } from '../../src/sandbox/index.js';
import { shareRemoteContracts } from '../../src/sse/index.js';
import { create, marbles } from '../contracts/joinSupport.js';
import { until } from '../helpers/time.js';
import { contractsWorld } from '../helpers/virtualContracts.js';
import { AppServer, url } from '../sse/remoteSupport.js';
import { bob, contract, ServerView } from '../sse/support.js';
import { childInjector, idsOf, inject } from './support.js';

const Asset = contractType('#sandbox-assets:Main:Asset', t.UnknownRecord);
const Task = contractType('#sandbox-tasks:Tasks.Model:Task', t.UnknownRecord);

describe('provideContracts', () => {
  it('gives injectContracts what a server sends, without a ledger', async () => {
    const view = new ServerView();
    const server = new AppServer(view.live);
    TestBed.configureTestingModule({
      providers: [
        provideZonelessChangeDetection(),
        { provide: TransferState, useValue: new TransferState() },
        provideContracts(() => shareRemoteContracts(url, { fetch: server.fetch })),
      ],
    });
    view.reset([contract('x'), contract('y', [bob])]);
    const [all, own] = [[], [bob]].map((parties) => inject(() => injectContracts({ parties })));
    TestBed.tick();
    if (all === undefined || own === undefined) throw new Error('no resources');
    await until(() => [all, own].every(({ status }) => status() === 'resolved'));
    expect([idsOf(all), idsOf(own), all.isLive()]).toEqual(['xy', 'y', true]);
    view.change({ remove: ['y'] });
    await until(() => idsOf(all) === 'x' && idsOf(own) === '');
    const clear = inject(injectClearContracts);
    clear();
    expect(all.status()).toBe('loading');
    await until(() => idsOf(all) === 'x');
    expect(server.requests).toHaveLength(4);
    TestBed.resetTestingModule();
    await until(() => view.subscriptions === 0);
  });

  it('shows no contract of the former user any more when the application clears the views that it has given', async () => {
    const view = new ServerView();
    const server = new AppServer(view.live);
    const contracts = shareRemoteContracts(url, { fetch: server.fetch });
    TestBed.configureTestingModule({
      providers: [
        provideZonelessChangeDetection(),
        { provide: TransferState, useValue: new TransferState() },
        provideContracts(contracts),
      ],
    });
    view.reset([contract('x')]);
    const shown = inject(() => injectContracts({ parties: [] }));
    const route = childInjector(provideContracts(contracts));
    const ofRoute = injectContracts({ parties: [] }, { injector: route.get(Injector) });
    TestBed.tick();
    await until(() => [shown, ofRoute].every(({ status }) => status() === 'resolved'));
    contracts.clear();
    expect([shown, ofRoute].map((each) => [each.status(), idsOf(each)])).toEqual([
      ['loading', ''],
      ['loading', ''],
    ]);
    await until(() => [shown, ofRoute].every((each) => idsOf(each) === 'x'));
    // the end of a route is not that of the user
    route.destroy();
    expect([shown, ofRoute].map((each) => [each.isLive(), idsOf(each)])).toEqual([
      [true, 'x'],
      [false, 'x'],
    ]);
    TestBed.resetTestingModule();
  });

  it('gives injectContracts views of the ledger of the application that are read together', async () => {
    const sandbox = createSandbox();
    sandbox.generate(60, { seed: 2 });
    TestBed.configureTestingModule({
      providers: [
        provideZonelessChangeDetection(),
        { provide: TransferState, useValue: new TransferState() },
        provideLedger({ baseUrl: sandbox.url, port: sandbox.port }),
        provideContracts(() => shareContractsOf(injectLedger(), [Asset, Task])),
      ],
    });
    const resources = [{ asset: Asset }, { task: Task }].map((types: ContractTypes) =>
      inject(() => injectContracts({ types, parties: 'any' })),
    );
    TestBed.tick();
    await until(() => resources.every(({ status }) => status() === 'resolved'));
    const names = resources.map(({ value }) => [...new Set(value().map(({ type }) => type))]);
    expect(names).toEqual([['asset'], ['task']]);
    expect(sandbox.requests.filter(({ path }) => path.includes('active-contracts'))).toHaveLength(1);
    TestBed.resetTestingModule();
  });

  it('leaves a ledger to resources that name it', async () => {
    const view = new ServerView();
    const server = new AppServer(view.live);
    TestBed.configureTestingModule({
      providers: [provideZonelessChangeDetection(), { provide: TransferState, useValue: new TransferState() }],
    });
    const route = childInjector(provideContracts(() => shareRemoteContracts(url, { fetch: server.fetch })));
    const injector = route.get(Injector);
    view.reset([contract('x')]);
    const world = contractsWorld({ latencyMs: 1 });
    world.participant.append(create(1, 'q'));
    const ledger = world.client;
    const sent = injectContracts({ parties: [] }, { injector });
    const read = injectContracts(marbles, { ledger, injector });
    const beside = inject(() => injectContracts(marbles, { ledger }));
    TestBed.tick();
    await until(() => [sent, read, beside].every(({ status }) => status() === 'resolved'));
    expect([sent, read, beside].map(idsOf)).toEqual(['x', 'q', 'q']);
    expect(server.requests).toHaveLength(1);
    // the same view
    const snapshots = world.service.requests.filter(({ path }) => path.includes('active-contracts'));
    expect(snapshots).toHaveLength(1);
    route.destroy();
    TestBed.resetTestingModule();
  });
});
