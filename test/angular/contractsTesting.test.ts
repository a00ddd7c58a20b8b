import '@angular/compiler';
import { provideZonelessChangeDetection, TransferState } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { firstValueFrom } from 'rxjs';
import { type ContractsResource, injectContracts, injectLedger } from '../../src/angular/index.js';
import { ContractsTestingController, provideContractsTesting } from '../../src/angular/testing/index.js';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import type { ContractTypes } from '../../src/contracts/Contract.js';
import { inject } from './support.js';

const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
const Loan = contractType('#finance:Main:Loan', t.type({ owner: t.string, amount: t.string }));
const Asset = interfaceType('#finance-api:Api:Asset', t.type({ owner: t.string }));
const [alice, bob] = ['alice::1220ab', 'bob::1220ab'];
const iou = (amount: string) => ({ owner: alice, amount });

function controller(): ContractsTestingController {
  TestBed.configureTestingModule({
    providers: [
      provideZonelessChangeDetection(),
      { provide: TransferState, useValue: new TransferState() },
      provideContractsTesting(),
    ],
  });
  return TestBed.inject(ContractsTestingController);
}
/** The contracts of a query, by default all IOUs, as a component has them. */
const show = (types: ContractTypes = { iou: Iou }, parties: readonly string[] | 'any' = 'any') =>
  inject(() => injectContracts({ types, parties }));
const amountsOf = ({ value }: ContractsResource): unknown[] =>
  value().map(({ payload }) => (payload as { amount?: string } | undefined)?.amount);

describe('the contracts of a component test', () => {
  it('are shown at once, and have the types of the query', () => {
    const contracts = controller();
    contracts.create(Iou, iou('1'));
    const resource = inject(() => injectContracts({ types: { iou: Iou }, parties: 'any' }));
    const amount: string | undefined = resource.value()[0]?.payload?.amount;
    expect([resource.status(), amount]).toEqual(['resolved', '1']);
    const second = contracts.create(Iou, iou('2'));
    expect(amountsOf(resource)).toEqual(['1', '2']);
    contracts.archive(second);
    contracts.create(Iou, iou('3'));
    expect(amountsOf(resource)).toEqual(['1', '3']);
    expect([resource.offset(), resource.isLive()]).toEqual([4, true]);
    expect(() => {
      contracts.archive(second);
    }).toThrow(second);
  });

  it('are those that the parties see, of the types that are asked for', () => {
    const contracts = controller();
    contracts.create(Iou, iou('1'), { signatories: [alice] });
    const [ofBob, ofAlice] = [show({ iou: Iou }, [bob]), show({ iou: Iou }, [alice])];
    contracts.create(Iou, iou('2'), { signatories: [alice], observers: [bob] });
    contracts.create(Loan, iou('3'), { signatories: [alice, bob] });
    expect([ofBob, ofAlice].map(amountsOf)).toEqual([['2'], ['1', '2']]);
    expect([ofBob.isLive(), ofBob.offset()]).toEqual([true, 3]);
  });

  it('may have views of interfaces, of one package and not of another with the same module and entity', () => {
    const contracts = controller();
    const Other = interfaceType('#other-api:Api:Asset', t.type({ owner: t.string }));
    contracts.create(Asset, { owner: alice });
    const [ofOther, ofAsset] = [show({ other: Other }), show({ asset: Asset })];
    contracts.create(Asset, { owner: bob });
    expect(ofOther.value()).toEqual([]);
    expect(ofAsset.value()).toMatchObject([alice, bob].map((owner) => ({ type: 'asset', payload: { owner } })));
    contracts.create(Other, { owner: bob });
    expect(ofOther.value().map(({ type }) => type)).toEqual(['other']);
  });

  it('are loading while the ledger does not answer, and come when it does', () => {
    const contracts = controller();
    contracts.hold();
    const resource = show();
    contracts.create(Iou, iou('1'));
    expect(resource.status()).toBe('loading');
    contracts.release();
    expect([resource.status(), ...amountsOf(resource)]).toEqual(['resolved', '1']);
    contracts.hold();
    contracts.create(Iou, iou('2'));
    expect(amountsOf(resource)).toEqual(['1']);
    contracts.release();
    expect(amountsOf(resource)).toEqual(['1', '2']);
  });

  it('end with an error when the ledger refuses them, and come again when it is released and they are reloaded', () => {
    const contracts = controller();
    contracts.hold();
    const resource = show();
    contracts.refuse();
    expect([resource.status(), resource.hasValue()]).toEqual(['error', false]);
    expect(resource.error()).toMatchObject({ _tag: 'ApiError', code: 'PERMISSION_DENIED' });
    contracts.create(Iou, iou('1'));
    expect([resource.reload(), resource.status()]).toEqual([true, 'error']);
    contracts.release();
    expect([resource.reload(), resource.status(), ...amountsOf(resource)]).toEqual([true, 'resolved', '1']);
  });

  it('are stale during an outage, and current after it', () => {
    const contracts = controller();
    const first = contracts.create(Iou, iou('1'));
    const resource = show();
    const before = resource.value();
    contracts.disconnect();
    contracts.create(Iou, iou('2'));
    contracts.archive(first);
    expect(resource.connection()).toMatchObject({ status: 'retrying', cause: { _tag: 'ConnectionError' } });
    expect([resource.status(), resource.isLive(), resource.offset()]).toEqual(['resolved', false, 1]);
    expect(resource.staleSince()).toBeGreaterThan(0);
    expect(resource.value()).toBe(before);
    const later = show({ other: Iou });
    expect([later.status(), later.connection()?.status]).toEqual(['loading', 'retrying']);
    contracts.reconnect();
    for (const each of [resource, later]) {
      expect([each.connection(), each.isLive(), each.offset()]).toEqual([{ status: 'open' }, true, 3]);
      expect(amountsOf(each)).toEqual(['2']);
    }
  });

  it('move, and are in flight in the meantime', () => {
    const contracts = controller();
    const [moved, stays] = [contracts.create(Iou, iou('1')), contracts.create(Iou, iou('2'))];
    const resource = show();
    const former = resource.value();
    const inFlight = { source: 'synchronizer::of-tests', target: 'other::1220' };
    contracts.reassign(moved, { inFlight });
    expect(resource.value()[0]).toEqual({ ...former[0], location: { inFlight }, reassignmentCounter: 1 });
    expect(resource.value()[1]).toBe(former[1]);
    contracts.reassign(moved, { synchronizerId: 'other::1220' });
    expect(resource.value()[0]).toMatchObject({ location: { synchronizerId: 'other::1220' }, reassignmentCounter: 2 });
    expect(resource.value().map(({ contractId }) => contractId)).toEqual([moved, stays]);
    expect(resource.offset()).toBe(4);
  });

  it('are those of another ledger after a reset', () => {
    const contracts = controller();
    const former = contracts.create(Iou, iou('1'));
    const resource = show();
    contracts.disconnect();
    contracts.reset();
    expect([resource.value().length, resource.isLive(), resource.reset()]).toEqual([1, false, undefined]);
    const id = contracts.create(Iou, iou('2'));
    contracts.reconnect();
    expect([resource.value().map(({ contractId }) => contractId), resource.offset()]).toEqual([[id], 1]);
    expect(id).not.toBe(former);
    const { reset } = resource;
    const marker = reset();
    expect(marker?.offset).toBe(1);
    contracts.create(Iou, iou('3'));
    expect(reset()).toBe(marker);
    contracts.reset();
    expect(reset()?.offset).toBe(0);
    expect([resource.status(), resource.value(), resource.isLive()]).toEqual(['resolved', [], true]);
    expect(() => {
      contracts.archive(id);
    }).toThrow(id);
  });

  it('come without a ledger: its requests are answered with an error', async () => {
    controller();
    const ledger = inject(injectLedger);
    await expect(firstValueFrom(ledger.ledgerEnd())).rejects.toMatchObject({ _tag: 'ApiError', status: 404 });
  });

  it('are an error for an invalid query, as in the application', () => {
    controller();
    const resource = show({ iou: Iou }, []);
    expect(resource.status()).toBe('error');
  });
});
