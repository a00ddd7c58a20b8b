import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BehaviorSubject, delay, map, mergeMap, NEVER, Subject, throwError, timer } from 'rxjs';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractsBatch, ContractsChanged } from '../../src/contracts/ContractChange.js';
import { ContractList } from '../../src/contracts/ContractSet.js';
import { toLiveContracts } from '../../src/contracts/liveContracts.js';
import { loading, type View } from '../../src/contracts/LiveState.js';
import { optimistic, type OptimisticChange, type OptimisticState } from '../../src/contracts/optimistic.js';
import { effort } from '../helpers/effort.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';

const recordTime = '2026-07-24T10:00:00Z';
const place = (offset: number) => ({ offset, synchronizerId: 'a', recordTime });

/** A view to which things happen when the test says so. */
class Script {
  private readonly views = new BehaviorSubject<View<AnyContract>>(loading);
  readonly view$ = this.views.asObservable();
  readonly live = toLiveContracts(this.view$);
  private list = new ContractList<AnyContract>();
  offset = 0;

  reset(...ids: readonly string[]): void {
    this.offset += 1;
    this.list = new ContractList();
    for (const id of ids) this.put(id);
    this.step({ _tag: 'Reset', reason: 'start', offset: this.offset, contracts: this.list.snapshot.toArray() });
  }

  /** Reads all contracts again, also those of an update that was not shown. */
  reload(reason: 'pruned' | 'ledgerReset', ...added: readonly string[]): void {
    this.offset += 1;
    for (const id of added) this.put(id);
    this.step({ _tag: 'Reset', reason, offset: this.offset, contracts: this.list.snapshot.toArray() });
  }

  update(
    { add = [], remove = [] }: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
    commandId?: string,
  ): void {
    this.offset += 1;
    const removed = remove.flatMap((id) => this.list.get(id) ?? []);
    for (const id of remove) this.list.set(id, undefined);
    const added = add.map((id) => this.put(id));
    const facts = { offset: this.offset, updateId: `u${this.offset}`, recordTime, synchronizerId: 'a' };
    const events = add.map((contractId) => ({ _tag: 'CreatedEvent', contractId }));
    const update = { _tag: 'Transaction', ...facts, commandId, effectiveAt: recordTime, events };
    this.step({ _tag: 'ContractsChanged', ...facts, update, added, removed, moved: [] } as unknown as ContractsChanged);
  }

  get contracts(): readonly AnyContract[] {
    return this.list.snapshot.toArray();
  }

  end(error?: Error): void {
    if (error === undefined) this.views.complete();
    else this.views.error(error);
  }

  private put(contractId: string): AnyContract {
    const contract = { contractId, offset: this.offset } as AnyContract;
    this.list.set(contractId, contract);
    return contract;
  }

  private step(...items: ContractsBatch<AnyContract>['items']): void {
    const position = { offset: this.offset, recordTimes: {} };
    const origin = { before: position, isAddressed: true };
    const known = { items, position, origin, offset: this.offset, isCaughtUp: true, contracts: this.list.snapshot };
    this.views.next({ connection: { status: 'open' }, isLive: true, known });
  }
}

/** What is shown, on one line: the contracts, then the rows, then the error. */
const brief = ({ contracts, pending, refused }: OptimisticState<AnyContract, string>): string =>
  [
    contracts.map(({ contractId }) => contractId).join(''),
    pending.join(''),
    ...(refused === undefined ? [] : [String(refused.error)]),
  ].join('|');

function begun(change: Partial<OptimisticChange<string>> = {}) {
  const script = new Script();
  const answer$ = new Subject<ReturnType<typeof place>>();
  script.reset('x');
  const shown = observe(optimistic(script.live, { submission$: answer$, added: ['R'], ...change }));
  const values = (): readonly string[] => shown.values.map(brief);
  return { script, answer$, shown, values };
}

describe('optimistic', () => {
  it('shows a row until the view has the commit, in one step', () => {
    const { script, answer$, values } = begun({ commandId: 'c' });
    answer$.next(place(2));
    script.update({ add: ['y'] }, 'c');
    expect(values()).toEqual(['x|', 'x|R', 'x|R', 'xy|']);
  });

  it('shows the contract instead when its update comes before the answer', () => {
    const { script, answer$, values } = begun({ commandId: 'c' });
    script.update({ add: ['y'] }, 'c');
    script.update({ add: ['z'] });
    answer$.next(place(2));
    expect(values()).toEqual(['x|', 'x|R', 'xy|', 'xyz|']);
  });

  it('holds back contracts that may be its own until the answer, if the view shows no commands', () => {
    const { script, answer$, values } = begun({ commandId: 'c' });
    script.update({ add: ['y'] });
    script.update({ add: ['z'] }, 'other');
    script.update({ remove: ['x'] });
    answer$.next(place(2));
    expect(values()).toEqual(['x|', 'x|R', 'x|R', 'xz|R', 'z|R', 'yz|']);
  });

  it('releases them with a refusal, and takes the row back', () => {
    const { script, answer$, values, shown } = begun();
    script.update({ add: ['y'] });
    answer$.error(new Error('no'));
    expect(values()).toEqual(['x|', 'x|R', 'x|R', 'xy||Error: no']);
    expect(shown.values.at(-1)?.refused?.change.added).toEqual(['R']);
    script.update({ add: ['z'] });
    expect(values().at(-1)).toBe('xyz||Error: no');
    expect(shown.completed).toBe(false);
  });

  it('takes a submission without a transaction for refused', () => {
    const { answer$, values } = begun();
    answer$.complete();
    expect(values().at(-1)).toBe('x||Error: The submission has emitted no transaction.');
  });

  it('keeps a commit that the view has, whatever the submission knows', () => {
    const { script, answer$, values } = begun({ commandId: 'c' });
    script.update({ add: ['y'] }, 'c');
    answer$.error(new Error('lost'));
    expect(values()).toEqual(['x|', 'x|R', 'xy|']);
  });

  it('hides what a change removes, until the view has removed it or it is refused', () => {
    const { script, answer$, values } = begun({ removed: ['x'], added: undefined });
    script.update({ add: ['y'] });
    answer$.next(place(3));
    script.update({ remove: ['x'], add: ['z'] });
    expect(values()).toEqual(['x|', '|', 'y|', 'y|', 'yz|']);
    const refused = begun({ removed: ['x'], added: ['R'] });
    refused.answer$.error(new Error('no'));
    expect(refused.values()).toEqual(['x|', '|R', 'x||Error: no']);
  });

  it('is not misled by a reload that brings the contract before the answer', () => {
    const { script, answer$, values } = begun({ commandId: 'c' });
    script.reload('pruned', 'y');
    answer$.next(place(2));
    expect(values()).toEqual(['x|', 'x|R', 'x|R', 'xy|']);
  });

  it('drops a row whose commit is of a ledger that the view has left', () => {
    const { script, answer$, values } = begun();
    answer$.next(place(9));
    script.reload('ledgerReset');
    expect(values()).toEqual(['x|', 'x|R', 'x|R', 'x|']);
  });

  it('shows a row only with its answer if the contracts were not known when it began', () => {
    const script = new Script();
    const answer$ = new Subject<ReturnType<typeof place>>();
    const shown = observe(optimistic(script.live, { submission$: answer$, added: ['R'] }));
    script.reset('x');
    answer$.next(place(2));
    script.update({ add: ['y'] });
    expect(shown.values.map(brief)).toEqual(['x|', 'x|R', 'xy|']);
  });

  it('submits each change of an Observable, and shows all that are pending', () => {
    const script = new Script();
    const [first$, second$] = [new Subject<ReturnType<typeof place>>(), new Subject<ReturnType<typeof place>>()];
    const change$ = new Subject<OptimisticChange<string>>();
    script.reset('x');
    const shown = observe(optimistic(script.live, change$));
    change$.next({ submission$: first$, added: ['R'] });
    change$.next({ submission$: second$, added: ['S'] });
    script.update({ add: ['y'] });
    first$.next(place(2));
    second$.error(new Error('no'));
    change$.next({ submission$: NEVER, added: ['T'] });
    const expected = ['x|', 'x|R', 'x|RS', 'x|RS', 'xy|S', 'xy||Error: no', 'xy|T'];
    expect(shown.values.map(brief)).toEqual(expected);
    shown.subscription.unsubscribe();
    expect([first$, second$, change$].some(({ observed }) => observed)).toBe(false);
  });

  it('fails and completes with the view, and aborts what is pending', () => {
    const { script, answer$, shown } = begun();
    script.end(new Error('gone'));
    expect(shown.error).toEqual(new Error('gone'));
    expect(answer$.observed).toBe(false);
    const other = begun();
    other.script.end();
    expect(other.shown.completed).toBe(true);
    expect(other.answer$.observed).toBe(false);
  });

  it('never shows a row and its contract together, nor neither, in any order of answers and updates', () => {
    const anyChange = fc.record({
      beginsAt: fc.integer({ min: 1, max: 20 }),
      answersAfter: fc.integer({ min: 0, max: 30 }),
      commitsAfter: fc.integer({ min: 0, max: 30 }),
      isRefused: fc.boolean(),
      hasCommandId: fc.boolean(),
      isCommandShown: fc.boolean(),
      byReload: fc.boolean(),
    });
    const anyOther = fc.record({ at: fc.integer({ min: 1, max: 60 }), commandId: fc.constantFrom(undefined, 'other') });
    fc.assert(
      fc.property(
        fc.array(anyChange, { minLength: 1, maxLength: 4 }),
        fc.array(anyOther, { maxLength: 5 }),
        fc.integer({ min: 0, max: 30 }),
        (plans, others, lagMs) => {
          marbles(({ flush }) => {
            const script = new Script();
            script.reset('x');
            const change$ = new Subject<OptimisticChange<string>>();
            // an answer may come before its update
            const live = lagMs === 0 ? script.live : toLiveContracts(script.view$.pipe(delay(lagMs)));
            const shown = observe(optimistic(live, change$));
            plans.forEach((plan, index) => {
              const id = `r${index}`;
              const offset$ = new Subject<number>();
              timer(plan.beginsAt).subscribe(() => {
                const submission$ = plan.isRefused
                  ? timer(plan.answersAfter).pipe(mergeMap(() => throwError(() => new Error('no'))))
                  : offset$.pipe(delay(plan.answersAfter), map(place));
                change$.next({
                  submission$,
                  added: [id],
                  ...(plan.hasCommandId && { commandId: `c${index}` }),
                });
              });
              timer(plan.beginsAt + plan.commitsAfter).subscribe(() => {
                if (plan.isRefused) return;
                if (plan.byReload) script.reload('pruned', id);
                else script.update({ add: [id] }, plan.isCommandShown ? `c${index}` : undefined);
                offset$.next(script.offset);
              });
            });
            others.forEach(({ at, commandId }, index) => {
              timer(at).subscribe(() => {
                script.update({ add: [`o${index}`] }, commandId);
              });
            });
            flush();
            const everShown = new Set<string>();
            shown.values.forEach(({ contracts, pending }, step) => {
              const all = [...contracts.map(({ contractId }) => contractId), ...pending];
              // never two
              expect(new Set(all).size).toBe(all.length);
              // never neither, and never a flicker, unless it is refused
              for (const id of everShown) {
                const plan = id.startsWith('r') ? plans[Number(id.slice(1))] : undefined;
                if (plan?.isRefused !== true && !all.includes(id)) throw new Error(`${id} has gone in step ${step}`);
              }
              for (const id of all) everShown.add(id);
            });
            // in the end, what the view has
            const last = shown.values.at(-1);
            expect(last?.contracts).toEqual(script.contracts);
            expect(last?.pending).toEqual([]);
          });
        },
      ),
      { numRuns: effort(200, 5_000) },
    );
  });
});
