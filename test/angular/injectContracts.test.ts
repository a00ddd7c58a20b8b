import '@angular/compiler';
import { Injector, provideZonelessChangeDetection, signal } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { injectContracts, type ContractsResource, provideLedger } from '../../src/angular/index.js';
import { archive, create, marbles } from '../contracts/joinSupport.js';
import { until } from '../helpers/time.js';
import { contractsWorld, type ContractsWorld } from '../helpers/virtualContracts.js';
import './support.js';

afterEach(() => {
  TestBed.resetTestingModule();
});

const provide = ({ service: { port } }: ContractsWorld): void => {
  TestBed.configureTestingModule({
    providers: [provideZonelessChangeDetection(), provideLedger({ baseUrl: 'http://ledger.example', port })],
  });
};

const idsOf = ({ value }: ContractsResource): readonly string[] => value().map(({ contractId }) => contractId);

describe('injectContracts', () => {
  it('shows the contracts of a query, and follows them', async () => {
    const world = contractsWorld({ latencyMs: 1 });
    world.participant.append(create(1, 'x'), create(2, 'y'));
    provide(world);
    const resource = TestBed.runInInjectionContext(() => injectContracts(marbles));
    expect(resource.status()).toBe('loading');
    expect(resource.isLoading()).toBe(true);
    expect(resource.hasValue()).toBe(false);
    expect(resource.value()).toEqual([]);
    await until(() => resource.isLive());
    expect(resource.status()).toBe('resolved');
    expect(idsOf(resource)).toEqual(['x', 'y']);
    expect(resource.offset()).toBe(2);
    world.participant.append(archive(3, 'x'), create(4, 'z'));
    await until(() => resource.offset() === 4);
    expect(idsOf(resource)).toEqual(['y', 'z']);
    expect(resource.value()[0]?.payload?.color).toBeDefined();
  });

  it('is a new view for another query, which never shows contracts of the one before', async () => {
    const world = contractsWorld();
    world.participant.append(create(1, 'x'));
    provide(world);
    const party = signal<string | undefined>(undefined);
    const resource = TestBed.runInInjectionContext(() =>
      injectContracts(() => {
        const current = party();
        return current === undefined ? undefined : { types: marbles.types, parties: [current] };
      }),
    );
    expect(resource.status()).toBe('idle');
    party.set('alice::1220ab');
    expect(resource.status()).toBe('loading');
    TestBed.tick();
    await until(() => resource.isLive());
    expect(idsOf(resource)).toEqual(['x']);
    party.set('bob::1220ab');
    expect(resource.status()).toBe('loading');
    expect(resource.value()).toEqual([]);
  });

  it('works outside an injection context with an injector', async () => {
    const world = contractsWorld();
    provide(world);
    const resource = injectContracts(marbles, { injector: TestBed.inject(Injector) });
    await until(() => resource.hasValue());
    expect(resource.value()).toEqual([]);
  });
});
