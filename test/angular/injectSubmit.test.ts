import '@angular/compiler';
import { effect, Injector, provideZonelessChangeDetection, signal, TransferState } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { defer, EMPTY, lastValueFrom, of, Subject } from 'rxjs';
import {
  injectClearContracts,
  injectContract,
  injectContracts,
  injectSession,
  injectSubmit,
  LEDGER,
  provideLedger,
} from '../../src/angular/index.js';
import { ContractsTestingController, provideContractsTesting } from '../../src/angular/testing/index.js';
import { contractType } from '../../src/codecs/TemplateType.js';
import type { CommandsRequest } from '../../src/codecs/SubmissionRequest.js';
import type { SubmittedTransaction } from '../../src/codecs/Transaction.js';
import { create } from '../../src/index.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { ledgerSession, type LedgerSession } from '../../src/session/index.js';
import { create as created, marbles } from '../contracts/joinSupport.js';
import { until } from '../helpers/time.js';
import { contractsWorld } from '../helpers/virtualContracts.js';
import { childInjector, inject } from './support.js';

const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
const alice = 'alice::1220ab';
const iou = { owner: alice, amount: '1' };
const request: CommandsRequest = { actAs: [alice], commands: [create(Iou, iou)] };
const transaction = { _tag: 'Transaction', updateId: 'u2', offset: 2 } as SubmittedTransaction;

/** An application whose submissions end when the test says so. */
function application() {
  const sent: Subject<SubmittedTransaction>[] = [];
  const submitAndWaitForTransaction = () =>
    defer(() => {
      const answer$ = new Subject<SubmittedTransaction>();
      sent.push(answer$);
      return answer$;
    });
  TestBed.configureTestingModule({
    providers: [
      provideZonelessChangeDetection(),
      { provide: TransferState, useValue: new TransferState() },
      provideContractsTesting(),
      { provide: LEDGER, useValue: { submitAndWaitForTransaction } as unknown as Ledger },
    ],
  });
  const answer = (): void => {
    sent.at(-1)?.next(transaction);
    sent.at(-1)?.complete();
  };
  return { sent, answer, contracts: TestBed.inject(ContractsTestingController) };
}

describe('injectSubmit', () => {
  it('submits once for a double click, and has the outcome as signals', async () => {
    const { sent, answer } = application();
    const form = inject(() => injectSubmit());
    expect([form.pending(), form.outcome()]).toEqual([false, undefined]);
    const [first, second] = [form.submit(request), form.submit(request)];
    expect([form.pending(), sent.length]).toEqual([true, 1]);
    answer();
    expect([form.pending(), form.outcome()]).toEqual([false, { _tag: 'Committed', transaction }]);
    expect(await Promise.all([first, second])).toEqual([form.outcome(), undefined]);
    form.reset();
    expect(form.outcome()).toBeUndefined();
  });

  it('forgets the outcome of a user who has left, and submits nothing of that one again', async () => {
    const { sent, answer } = application();
    const clearContracts = inject(injectClearContracts);
    const form = inject(() => injectSubmit());
    for (const end of [answer, () => sent.at(-1)?.error(new Error('lost'))]) {
      void form.submit(request);
      end();
      expect(form.outcome()).toBeDefined();
      clearContracts();
      expect([form.pending(), form.outcome(), await form.retry()]).toEqual([false, undefined, undefined]);
    }
    const pending = form.submit(request);
    clearContracts();
    expect(form.pending()).toBe(true);
    answer();
    expect([form.pending(), form.outcome()]).toEqual([false, undefined]);
    expect(await pending).toEqual({ _tag: 'Committed', transaction });
  });

  it('submits the same again with retry after a failure, and continues when the component is destroyed', async () => {
    const { sent, answer } = application();
    const injector = childInjector();
    const form = injectSubmit({ injector: injector.get(Injector) });
    const failed = form.submit(request);
    sent[0]?.error(new Error('lost'));
    expect(await failed).toEqual({ _tag: 'Failed', error: new Error('lost') });
    const retried = form.retry();
    injector.destroy();
    answer();
    expect(await retried).toEqual({ _tag: 'Committed', transaction });
    expect(sent).toHaveLength(2);
  });

  it('has a commit together with the contracts that it has created', () => {
    const { answer, contracts } = application();
    contracts.create(Iou, iou);
    const ious = inject(() => injectContracts({ types: { iou: Iou }, parties: 'any' }));
    const form = inject(() => injectSubmit({ awaits: ious }));
    const shown: string[] = [];
    TestBed.runInInjectionContext(() =>
      effect(() => {
        shown.push(`${form.pending() ? 'pending' : form.outcome()?._tag} ${ious.value().length}`);
      }),
    );
    TestBed.tick();
    void form.submit(request);
    answer();
    TestBed.tick();
    contracts.create(Iou, iou);
    expect([form.outcome()?._tag, ious.value().length]).toEqual(['Committed', 2]);
    TestBed.tick();
    expect(shown).toEqual(['undefined 1', 'pending 1', 'Committed 2']);
  });

  it('does not wait for contracts whose component is destroyed, nor for a view that fails', async () => {
    const { answer, contracts } = application();
    const injector = childInjector();
    const gone = injectContracts({ types: { iou: Iou }, parties: 'any' }, { injector: injector.get(Injector) });
    const form = inject(() => injectSubmit({ awaits: gone }));
    const outcome = form.submit(request);
    answer();
    expect(form.pending()).toBe(true);
    injector.destroy();
    expect(await outcome).toMatchObject({ _tag: 'Committed' });
    const later = form.submit(request);
    answer();
    expect(await later).toMatchObject({ _tag: 'Committed' });
    contracts.refuse();
    const refused = inject(() => injectContracts({ types: { iou: Iou }, parties: 'any' }));
    const other = inject(() => injectSubmit({ awaits: refused }));
    void other.submit(request);
    answer();
    expect(other.outcome()).toMatchObject({ _tag: 'Committed' });
  });

  it.each<[string, (contracts: ContractsTestingController) => void]>([
    ['the contracts', () => undefined],
    [
      'the error',
      (contracts) => {
        contracts.refuse();
      },
    ],
  ])('waits for the query that is shown then, and does not take %s of the former one for it', (_, end) => {
    const { answer, contracts } = application();
    const party = signal(alice);
    const ious = inject(() => injectContracts(() => ({ types: { iou: Iou }, parties: [party()] })));
    const form = inject(() => injectSubmit({ awaits: ious }));
    TestBed.tick();
    contracts.create(Iou, iou, { signatories: [alice, 'bob::1220ab'] });
    contracts.create(Iou, iou, { signatories: [alice, 'bob::1220ab'] });
    expect(ious.value()).toHaveLength(2);
    end(contracts);
    void form.submit(request);
    party.set('bob::1220ab');
    contracts.hold();
    answer();
    expect([form.pending(), ious.status()]).toEqual([true, 'loading']);
    TestBed.tick();
    expect([form.pending(), ious.status()]).toEqual([true, 'loading']);
    contracts.release();
    expect([form.pending(), ious.value().length]).toEqual([false, 2]);
  });

  it('does not wait for contracts without a query', () => {
    const { answer } = application();
    const id = signal<string | undefined>(undefined);
    const selected = inject(() => injectContract(Iou, id));
    const form = inject(() => injectSubmit({ awaits: selected }));
    TestBed.tick();
    void form.submit(request);
    answer();
    expect(form.outcome()?._tag).toBe('Committed');
    id.set('00c1');
    TestBed.tick();
    void form.submit(request);
    answer();
    expect(form.pending()).toBe(true);
    id.set(undefined);
    TestBed.tick();
    expect(form.outcome()?._tag).toBe('Committed');
  });

  it('awaits the contracts of a ledger', async () => {
    const { participant, service } = contractsWorld({ latencyMs: 1 });
    participant.append(created(1, 'x'));
    TestBed.configureTestingModule({
      providers: [
        provideZonelessChangeDetection(),
        { provide: TransferState, useValue: new TransferState() },
        provideLedger({ baseUrl: 'http://ledger.example', port: service.port }),
      ],
    });
    const all = inject(() => injectContracts(marbles));
    const form = inject(() => injectSubmit({ awaits: all }));
    await until(all.isLive);
    void form.submit(of(transaction));
    expect(form.pending()).toBe(true);
    participant.append(created(2, 'y'));
    await until(() => form.outcome() !== undefined);
    expect(all.value().map(({ contractId }) => contractId)).toEqual(['x', 'y']);
  });
});

describe('injectContract', () => {
  it('is the contract with an ID, of a type or of a query, and absent when it is archived', () => {
    const { contracts } = application();
    const [first, second] = [contracts.create(Iou, iou), contracts.create(Iou, { ...iou, amount: '2' })];
    const id = signal<string | undefined>(undefined);
    const byType = inject(() => injectContract(Iou, id));
    const byQuery = inject(() => injectContract({ types: { iou: Iou }, parties: [alice] }, first));
    TestBed.tick();
    expect([byType.status(), byType.value()]).toEqual(['idle', undefined]);
    expect([byQuery.isLive(), byQuery.value()]).toEqual([true, undefined]);
    id.set(second);
    TestBed.tick();
    const amount: string | undefined = byType.value()?.payload?.amount;
    expect([byType.status(), amount]).toEqual(['resolved', '2']);
    contracts.archive(second);
    expect([byType.isLive(), byType.value()]).toEqual([true, undefined]);
    id.set(first);
    TestBed.tick();
    expect(byType.value()?.contractId).toBe(first);
  });
});

describe('injectSession', () => {
  it('is the state of a session until the component is destroyed', async () => {
    TestBed.configureTestingModule({ providers: [provideZonelessChangeDetection()] });
    let hasToken = false;
    const session = ledgerSession({ token: () => (hasToken ? 'a' : EMPTY), name: 'angular' });
    const injector = childInjector();
    const { state, signIn, signOut } = injectSession(session, { injector: injector.get(Injector) });
    expect(state()).toBe('signedOut');
    hasToken = true;
    await signIn();
    expect(state()).toBe('active');
    injector.destroy();
    await signOut();
    expect(state()).toBe('active');
  });

  it.each<[string, (session: LedgerSession) => unknown]>([
    ['a sign-in of another one', (session) => session.signIn()],
    ['a request with the token of another one', (session) => lastValueFrom(session.token()).catch(() => undefined)],
    ['a sign-out, and a sign-in at once', (session) => session.signOut().then(() => session.signIn())],
  ])('renders that the user has left before the next one is there: after %s', async (_, meet) => {
    TestBed.configureTestingModule({ providers: [provideZonelessChangeDetection()] });
    let user = 'alice';
    const token = () => `header.${btoa(JSON.stringify({ sub: user }))}.signature`;
    const session = ledgerSession({ token, name: 'angular, next user' });
    const rendered: string[] = [];
    inject(() => {
      const { state } = injectSession(session);
      effect(() => rendered.push(state()));
    });
    await until(() => rendered.at(-1) === 'active');
    user = 'bob';
    await meet(session);
    // the session may be active a moment before that is rendered
    await until(() => session.state === 'active' && rendered.includes('signedOut') && rendered.at(-1) === 'active');
    const [left, ...next] = rendered.slice(rendered.lastIndexOf('signedOut'));
    expect([rendered[0], left, next.at(-1)]).toEqual(['active', 'signedOut', 'active']);
  });
});
