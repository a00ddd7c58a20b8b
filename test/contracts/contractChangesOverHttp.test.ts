import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as t from 'io-ts';
import { filter, firstValueFrom, lastValueFrom, takeWhile, tap, toArray } from 'rxjs';
import { contractType, interfaceType } from '../../src/codecs/ContractType.js';
import type { ExercisedEvent } from '../../src/codecs/Event.js';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import { contractChanges } from '../../src/contracts/contractChanges.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { type Sandbox, type SandboxProfile, startSandbox, type WireUpdateInput } from '../../src/sandbox/index.js';
import { contractHistories, contractsAt, type HistoryUpdate, offsetIn } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { statesOf } from '../helpers/foldLaw.js';
import { useProcessTime } from '../helpers/time.js';
import { brief } from './joinSupport.js';

const Asset = contractType('#sandbox-assets:Main:Asset', t.type({ owner: t.string, amount: t.string }));
const Task = contractType('#sandbox-tasks:Tasks.Model:Task', t.UnknownRecord);
const Holding = interfaceType('#sandbox-api:Api:Holding', t.UnknownRecord);
const Later = contractType('#later:Later:Later', t.type({ owner: t.string }));

let sandbox: Sandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
});

async function startedWith(profile: SandboxProfile, updates: number): Promise<Sandbox> {
  sandbox = await startSandbox({ profile });
  sandbox.generate(updates);
  return sandbox;
}

/** The ids of the contracts after some changes. */
const fold = (changes: readonly ContractChange[]): string[] => [...after(changes).keys()].sort();

/** The contracts after some changes. */
function after(changes: readonly ContractChange[]): ReadonlyMap<string, AnyContract> {
  const contracts = new Map<string, AnyContract>();
  for (const change of changes) {
    if (change._tag === 'Reset') contracts.clear();
    if (change._tag !== 'Reset' && change._tag !== 'ContractsChanged') continue;
    const removed = change._tag === 'Reset' ? [] : change.removed;
    const current =
      change._tag === 'Reset' ? change.contracts : [...change.added, ...change.moved.map(({ contract }) => contract)];
    for (const { contractId } of removed) contracts.delete(contractId);
    for (const contract of current) contracts.set(contract.contractId, contract);
  }
  return contracts;
}

const isExercisedEvent = (event: { readonly _tag: string }): event is ExercisedEvent => event._tag === 'ExercisedEvent';

describe('contractChanges over HTTP', () => {
  it.each(['3.3', '3.4', '3.5', '3.6', '3.7'] as const)(
    'has the same contracts as a new snapshot, on %s',
    async (profile) => {
      const served = await startedWith(profile, 120);
      const ledger = createLedger({ baseUrl: served.url });
      const query = { types: { asset: Asset, task: Task, holding: Holding }, parties: 'any' } as const;
      let end = 0;
      const changes = await lastValueFrom(
        contractChanges(ledger, query, { idleTimeoutMs: 50 }).pipe(
          tap(({ _tag }) => {
            if (_tag === 'CaughtUp' && end === 0) end = served.generate(60);
          }),
          takeWhile(({ offset }) => end === 0 || offset < end, true),
          toArray(),
        ),
      );
      const now = await firstValueFrom(contractChanges(ledger, query));
      expect(changes.filter(({ _tag }) => _tag === 'Reset')).toHaveLength(1);
      expect(fold(changes)).toEqual(fold([now]));
      expect(fold(changes).length).toBeGreaterThan(10);
      const contracts = now._tag === 'Reset' ? now.contracts : [];
      expect(contracts.every(({ _tag }) => _tag === 'Contract')).toBe(true);
    },
  );

  it('has the contracts of a full replay, from a snapshot of 3.7 at any offset', async () => {
    await fc.assert(
      fc.asyncProperty(contractHistories(), fc.nat(), fc.constantFrom('pages', 'lists'), async (history, place, by) => {
        const start = offsetIn(history, place);
        const end = history.at(-1)?.offset ?? 0;
        const served = await startSandbox({ profile: '3.7', activeContractsPages: by === 'pages' });
        const append = (updates: readonly HistoryUpdate[]): void => {
          served.append(...updates.map(({ element }) => (element as { readonly update: WireUpdateInput }).update));
        };
        append(history.filter(({ offset }) => offset <= start));
        const changes = await lastValueFrom(
          contractChanges(createLedger({ baseUrl: served.url }), { parties: 'any' }, { idleTimeoutMs: 50 }).pipe(
            tap(({ _tag }) => {
              if (_tag === 'Reset') append(history.filter(({ offset }) => offset > start));
            }),
            takeWhile(({ offset }) => offset < end, true),
            toArray(),
          ),
        ).finally(() => served.close());
        const [reset] = changes;
        expect(statesOf(after(reset === undefined ? [] : [reset]).values())).toEqual(contractsAt(history, start));
        expect(statesOf(after(changes).values())).toEqual(contractsAt(history, end));
      }),
      { numRuns: effort(15, 200) },
    );
  });

  it.each(['3.3', '3.4', '3.6'] as const)(
    'has the same changes with exercises as without, and the exercises, on %s',
    async (profile) => {
      const served = await startedWith(profile, 0);
      const ledger = createLedger({ baseUrl: served.url });
      const query = { types: { asset: Asset, task: Task, holding: Holding }, parties: 'any' } as const;
      // a snapshot has no exercises: the changes begin before all of them
      const changesOf = (includeExercises: boolean) =>
        lastValueFrom(
          contractChanges(ledger, { ...query, includeExercises }, { resumeFrom: 0, idleTimeoutMs: 50 }).pipe(
            takeWhile(({ offset }) => offset < end, true),
            filter((change) => change._tag === 'ContractsChanged'),
            toArray(),
          ),
        );
      const end = served.generate(150);
      const [plain, full] = [await changesOf(false), await changesOf(true)];
      const isChange = ({ added, removed, moved }: (typeof full)[number]) =>
        added.length + removed.length + moved.length > 0;
      expect(full.filter(isChange).map(brief)).toEqual(plain.map(brief));
      const exercises = full
        .flatMap(({ update }): readonly { _tag: string }[] => update.events)
        .filter(isExercisedEvent);
      expect(exercises.some(({ consuming }) => consuming)).toBe(true);
      expect(exercises.some(({ consuming }) => !consuming)).toBe(true);
      expect(
        full.every(({ update, offset, updateId }) => update.offset === offset && update.updateId === updateId),
      ).toBe(true);
      expect(
        plain.flatMap(({ update }): readonly { _tag: string }[] => update.events).filter(isExercisedEvent),
      ).toEqual([]);
    },
  );

  it('has the contracts of known types, and all when the package of the others is uploaded (pitfall 37)', async () => {
    useProcessTime(20);
    const served = await startedWith('3.5', 40);
    const ledger = createLedger({ baseUrl: served.url });
    const query = { types: { asset: Asset, later: Later }, parties: 'any', onUnknownPackage: 'wait' } as const;
    const lines: string[] = [];
    await lastValueFrom(
      contractChanges(ledger, query, { idleTimeoutMs: 50 }).pipe(
        tap((change) => {
          lines.push(brief(change));
          if (change._tag !== 'CaughtUp' || lines.length > 2) return;
          served.uploadPackage('later', { templates: ['Later:Later'] });
          const createdEvent = {
            templateId: '#later:Later:Later',
            createArgument: { owner: 'alice' },
            contractId: 'l1',
          };
          served.append({ Transaction: { value: { events: [{ CreatedEvent: createdEvent }] } } });
        }),
        takeWhile((change) => change._tag !== 'Reset' || change.reason === 'start', true),
      ),
    );
    const resets = lines.filter((line) => line.startsWith('Reset'));
    expect(resets).toHaveLength(2);
    expect(resets[0]).not.toContain('l1');
    expect(resets[1]).toMatch(/packageFound .*l1/);
  }, 60_000);
});
