import { jest } from '@jest/globals';
import fc from 'fast-check';
import { Observable, Subject } from 'rxjs';
import type { AnyContract, Contract, ContractLocation } from '../../src/contracts/Contract.js';
import type { ContractsBatch, ContractsChanged, Reset } from '../../src/contracts/ContractChange.js';
import { ContractList } from '../../src/contracts/ContractSet.js';
import type { ContractsSource } from '../../src/contracts/ContractQuery.js';
import type { LiveContracts } from '../../src/contracts/liveContracts.js';
import type { DiagnosticBody } from '../../src/diagnostics/Diagnostic.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { createLedger } from '../../src/ledger/createLedger.js';

const recordTime = '2026-07-24T10:00:00Z';

/** What happens in a scripted join: a step, which is made when it is due, or something that its feed reports. */
export type Happening = (() => ContractsBatch<AnyContract>) | DiagnosticBody;

let script: () => Observable<Happening>;

jest.unstable_mockModule('../../src/contracts/join.js', () => ({
  join: ({ report }: ContractsSource) =>
    new Observable<ContractsBatch<AnyContract>>((subscriber) =>
      script().subscribe({
        next: (happening) => {
          if (typeof happening === 'function') subscriber.next(happening());
          else report(() => happening);
        },
        error: (error: unknown) => {
          subscriber.error(error);
        },
      }),
    ),
}));
const { liveContracts } = await import('../../src/contracts/liveContracts.js');

/** The live view of a scripted join, which is subscribed to for each snapshot. */
export function viewOf(happening$: Observable<Happening> | (() => Observable<Happening>)): LiveContracts {
  script = typeof happening$ === 'function' ? happening$ : () => happening$;
  return liveContracts(createLedger({ baseUrl: 'http://ledger.example' }), { parties: 'any' });
}

/** A live view to which things happen when the test says so. */
export function scripted() {
  const make = new StepMaker();
  const happening$ = new Subject<Happening>();
  const happen = (...happenings: readonly Happening[]): void => {
    for (const happening of happenings) happening$.next(happening);
  };
  return { make, happening$, happen, view: viewOf(happening$) };
}

/** A contract. */
export const contract = (contractId: string, synchronizerId = 'a', reassignmentCounter = 0): Contract =>
  ({
    _tag: 'Contract',
    type: 'task',
    contractId,
    payload: contractId,
    location: { synchronizerId },
    reassignmentCounter,
  }) as Contract;

/** What an update does. A contract is moved to a synchronizer, or added to it. */
export interface Deed {
  readonly put?: readonly (string | readonly [contractId: string, synchronizerId: string])[];
  readonly remove?: readonly string[];
}

/** Makes the steps of a join from what happens. */
export class StepMaker {
  contracts = new ContractList<AnyContract>();
  offset = 0;

  /** All contracts are these. */
  readonly reset =
    (contractIds: readonly string[], reason: Reset['reason'] = 'start', isCaughtUp = true) =>
    (): ContractsBatch<AnyContract> => {
      this.offset += 1;
      this.contracts = new ContractList();
      for (const id of contractIds) this.contracts.set(id, contract(id));
      const { offset } = this;
      return this.step([{ _tag: 'Reset', reason, offset, contracts: this.contracts.snapshot.toArray() }], isCaughtUp);
    };

  /** A page of updates. */
  readonly page =
    (...deeds: readonly Deed[]) =>
    (): ContractsBatch<AnyContract> =>
      this.step(deeds.map((deed) => this.apply(deed)));

  /** Nothing up to a checkpoint. */
  readonly checkpoint = () => (): ContractsBatch<AnyContract> => {
    this.offset += 1;
    return this.step([{ _tag: 'OffsetCheckpoint', offset: this.offset, synchronizerTimes: [] }]);
  };

  /** A page after which there are more. */
  readonly behind =
    (...deeds: readonly Deed[]) =>
    (): ContractsBatch<AnyContract> => ({ ...this.page(...deeds)(), isCaughtUp: false });

  private step(items: ContractsBatch<AnyContract>['items'], isCaughtUp = true): ContractsBatch<AnyContract> {
    const position = { offset: this.offset, recordTimes: {} };
    const origin = { before: position, isAddressed: true };
    return { items, position, origin, offset: this.offset, isCaughtUp, contracts: this.contracts.snapshot };
  }

  private apply({ put = [], remove = [] }: Deed): ContractsChanged {
    this.offset += 1;
    const added: AnyContract[] = [];
    const removed: AnyContract[] = [];
    const moved: { contract: AnyContract; from: ContractLocation }[] = [];
    for (const id of remove) {
      const before = this.contracts.get(id);
      this.contracts.set(id, undefined);
      if (before !== undefined) removed.push(before);
    }
    for (const each of put) {
      const [id, synchronizerId] = typeof each === 'string' ? [each, 'a'] : each;
      const before = this.contracts.get(id);
      const now = contract(id, synchronizerId, (before?.reassignmentCounter ?? -1) + 1);
      this.contracts.set(id, now);
      if (before === undefined) added.push(now);
      else moved.push({ contract: now, from: before.location });
    }
    const facts = { offset: this.offset, updateId: `u${this.offset}`, recordTime };
    const update = { _tag: 'Transaction', ...facts, synchronizerId: 'a', effectiveAt: recordTime, events: [] } as const;
    return { _tag: 'ContractsChanged', ...facts, update, added, removed, moved };
  }
}

/** Why a request is retried. */
export const unavailable = new ApiError({ path: '/v2/updates', status: 503 });

/** The feed retries after so many milliseconds. */
export const retryIn = (delayMs: number, failures = 1): DiagnosticBody => ({
  _tag: 'RetryScheduled',
  cause: unavailable,
  delayMs,
  failures,
  spentMs: 0,
});

/** A request was answered. */
export const answered: DiagnosticBody = { _tag: 'PageReceived', path: '/v2/updates', count: 0, durationMs: 1 };

const anyId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');

const anyDeed: fc.Arbitrary<Deed> = fc
  .uniqueArray(fc.record({ id: anyId, to: fc.constantFrom('a', 'b', undefined) }), { selector: ({ id }) => id })
  .map((all) => ({
    put: all.flatMap(({ id, to }) => (to === undefined ? [] : [[id, to] as const])),
    remove: all.filter(({ to }) => to === undefined).map(({ id }) => id),
  }));

const anyPage = fc.array(anyDeed, { maxLength: 3 }).map((deeds) => (make: StepMaker) => make.page(...deeds));
const anyReset = fc.uniqueArray(anyId).map((all) => (make: StepMaker) => make.reset(all, 'pruned'));
const anyCheckpoint = fc.constant((make: StepMaker) => make.checkpoint());
const anyRetry = fc.constant(() => retryIn(1));

/** Random steps of a join. The first is a `Reset`. */
export const histories: fc.Arbitrary<readonly ((make: StepMaker) => Happening)[]> = fc
  .tuple(
    fc.uniqueArray(anyId),
    fc.array(fc.oneof({ weight: 8, arbitrary: anyPage }, anyReset, anyCheckpoint, anyRetry), { maxLength: 20 }),
  )
  .map(([first, rest]) => [(make: StepMaker) => make.reset(first), ...rest]);
