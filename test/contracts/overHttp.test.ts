import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as t from 'io-ts';
import { filter, firstValueFrom, lastValueFrom, mergeMap, takeWhile, tap, toArray } from 'rxjs';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import type { ContractEntry } from '../../src/codecs/ContractEntry.js';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { makeContract } from '../../src/contracts/Contract.js';
import type { ContractChange, ContractsChanged } from '../../src/contracts/ContractChange.js';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import { activeContracts, contractChanges, type ContractsOptions, liveContracts } from '../../src/contracts/index.js';
import type { ExercisedEvent } from '../../src/codecs/Event.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { acsDelta, createLedger, ofVariant } from '../../src/index.js';
import { contractsFeed, memoryStore, processFeed } from '../../src/process/index.js';
import type { RestartOptions, Sandbox, SandboxOptions, WireUpdateInput } from '../../src/sandbox/index.js';
import { cantonError, startSandbox } from '../../src/sandbox/index.js';
import { webSocketTransport } from '../../src/ws/index.js';
import {
  contractHistories,
  contractsAt,
  type ContractState,
  type HistoryUpdate,
  offsetIn,
} from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { statesOf } from '../helpers/foldLaw.js';
import { sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';
import { listPath, pagePath } from '../helpers/virtualContracts.js';
import { brief } from './brief.js';
import { record, reported } from './joinSupport.js';

const start = sandboxes();

/** A sandbox with contracts on several synchronizers, some of them in flight. */
async function sandboxWith(options: SandboxOptions, updates = 200): Promise<Sandbox> {
  const sandbox = await start(options);
  sandbox.generate(updates, { seed: 11 });
  return sandbox;
}

const idsOf = (contracts: Iterable<AnyContract>): string[] => [...contracts].map(({ contractId }) => contractId).sort();

async function read(
  sandbox: Sandbox,
  options: ContractsOptions = {},
  onEach: (diagnostic: Diagnostic) => void = () => undefined,
) {
  const ledger = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 1 } });
  const diagnostics = record(ledger.diagnostics$.pipe(tap(onEach)));
  const entries = await lastValueFrom(activeContracts(ledger, { parties: 'any' }, options).pipe(toArray()));
  return { entries, diagnostics, ways: reported(diagnostics, 'SnapshotStarted').map(({ by }) => by) };
}

const webSocket = (): ContractsOptions => ({ transport: webSocketTransport() });

/** Where each contract is after all updates, whatever the service says of its contracts. */
async function afterUpdates(sandbox: Sandbox): Promise<Map<string, ContractState>> {
  const { includeReassignments, includeTransactions } = acsDelta({ parties: 'any' });
  const updates$ = createLedger({ baseUrl: sandbox.url }).updates({
    beginExclusive: 0,
    endInclusive: sandbox.ledgerEnd,
    updateFormat: { includeReassignments, includeTransactions },
  });
  const fold = new ContractsFold(makeContract());
  await lastValueFrom(
    updates$.pipe(
      ofVariant('Transaction', 'Reassignment'),
      tap((update) => fold.apply(update)),
    ),
  );
  return statesOf(fold.contracts);
}

/** Where each contract is by the entries of a snapshot. */
function byEntries(entries: readonly ContractEntry[]): Map<string, ContractState> {
  const fold = new ContractsFold(makeContract());
  fold.load(entries);
  fold.settle();
  return statesOf(fold.contracts);
}

describe('a snapshot over HTTP', () => {
  it.each([
    ['3.6', 'pages', {}],
    ['3.7', 'pages', {}],
    ['3.5', 'lists', {}],
    ['3.4', 'socket', webSocket()],
  ] as const)('has what all updates leave behind, %s by %s', async (profile, way, options) => {
    const sandbox = await sandboxWith({ profile, maxListElements: 20 });
    const expected = await afterUpdates(sandbox);
    expect(expected.size).toBeGreaterThan(20);
    if (profile === '3.5') sandbox.fault({ kind: 'status', status: 405, body: 'no' }, { path: pagePath });
    const result = await read(sandbox, { maxSnapshotPageSize: 20, ...options });
    expect(byEntries(result.entries)).toEqual(expected);
    expect(result.ways.at(-1)).toBe(way);
  });

  it('survives answers that are lost, cut or late (pitfall 1) (G25)', async () => {
    const sandbox = await sandboxWith({ profile: '3.6' });
    const { entries } = await read(sandbox, { maxSnapshotPageSize: 10 });
    sandbox.fault({ kind: 'reset' }, { path: pagePath, after: 1 });
    sandbox.fault({ kind: 'truncate', bytes: 300 }, { path: pagePath, after: 2 });
    sandbox.fault({ kind: 'status', status: 503, body: 'busy' }, { path: pagePath, after: 3 });
    const result = await read(sandbox, { maxSnapshotPageSize: 10 });
    expect(result.entries).toEqual(entries);
    expect(reported(result.diagnostics, 'RetryScheduled')).toHaveLength(3);
  });

  it.each([pagePath, listPath])(
    'begins again if its participant is upgraded to 3.7 in the middle, on %s',
    async (path) => {
      const activeContractsPages = path === pagePath;
      const sandbox = await sandboxWith({ profile: '3.6', maxListElements: 20, activeContractsPages });
      const expected = await afterUpdates(sandbox);
      let count = 0;
      const result = await read(sandbox, { maxSnapshotPageSize: 20 }, ({ _tag }) => {
        if (_tag === 'SnapshotPageReceived' && (count += 1) === 2) sandbox.configure({ profile: '3.7' });
      });
      expect(byEntries(result.entries)).toEqual(expected);
      expect(reported(result.diagnostics, 'SnapshotRestarted')).not.toEqual([]);
      expect(sandbox.requests.at(-1)?.path).toBe(path);
    },
  );

  it('is a SnapshotLimitError where nothing brings it (G27)', async () => {
    const sandbox = await sandboxWith({ profile: '3.4', maxListElements: 20 });
    await expect(read(sandbox)).rejects.toMatchObject({ _tag: 'SnapshotLimitError' });
    const { entries } = await read(sandbox, webSocket());
    expect(entries.length).toBeGreaterThan(20);
  });
});

describe('a snapshot by a WebSocket', () => {
  it.each([
    ['cut (1006)', { how: 'cut' }],
    ['closed with 1001', { how: 'close', code: 1001 }],
    ['closed with 1011', { how: 'close', code: 1011 }],
    ['ended by an error', { how: 'error', body: cantonError('STALE_STREAM_AUTHORIZATION') }],
  ] as const)('that is %s is read again (pitfall 1)', async (_, fault) => {
    const sandbox = await sandboxWith({ profile: '3.4', maxListElements: 20 });
    const { entries } = await read(sandbox, webSocket());
    sandbox.fault({ kind: 'socket', elements: 7, ...fault }, { path: listPath });
    const result = await read(sandbox, webSocket());
    expect(result.entries).toEqual(entries);
    expect(result.ways.filter((by) => by === 'socket')).toHaveLength(2);
  });
});

const Asset = contractType('#sandbox-assets:Main:Asset', t.type({ owner: t.string, amount: t.string }));
const Task = contractType('#sandbox-tasks:Tasks.Model:Task', t.UnknownRecord);
const Holding = interfaceType('#sandbox-api:Api:Holding', t.UnknownRecord);
const query = { types: { asset: Asset, task: Task, holding: Holding }, parties: 'any' } as const;

/** The contracts after some changes. */
function after(changes: readonly ContractChange[]): ReadonlyMap<string, AnyContract> {
  const contracts = new Map<string, AnyContract>();
  const put = (contract: AnyContract): unknown => contracts.set(contract.contractId, contract);
  for (const change of changes) {
    if (change._tag === 'Reset') {
      contracts.clear();
      change.contracts.forEach(put);
    }
    if (change._tag !== 'ContractsChanged') continue;
    for (const { contractId } of change.removed) contracts.delete(contractId);
    [...change.added, ...change.moved.map(({ contract }) => contract)].forEach(put);
  }
  return contracts;
}

const exercisesOf = (changes: readonly ContractsChanged[]): readonly ExercisedEvent[] =>
  changes.flatMap(({ update }) => [...(update?.events ?? [])].filter((event) => event._tag === 'ExercisedEvent'));

describe('contractChanges over HTTP', () => {
  it.each(['3.3', '3.4', '3.5', '3.6', '3.7'] as const)(
    'has the same contracts as a new snapshot, on %s',
    async (profile) => {
      const served = await sandboxWith({ profile }, 120);
      const ledger = createLedger({ baseUrl: served.url });
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
      expect(idsOf(after(changes).values())).toEqual(idsOf(after([now]).values()));
      expect(idsOf(after(changes).values()).length).toBeGreaterThan(10);
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
      const served = await start({ profile });
      const ledger = createLedger({ baseUrl: served.url });
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
      expect(new Set(exercisesOf(full).map(({ consuming }) => consuming))).toEqual(new Set([true, false]));
      expect(exercisesOf(plain)).toEqual([]);
      for (const { update, offset, updateId } of full) expect(update).toMatchObject({ offset, updateId });
    },
  );
});

// a ledger that may be reading again what it had is soon given up
const retry = { baseDelayMs: 10, maxDelayMs: 50, giveUpAfterMs: 3_000 };
const other = `participant2::1220${'22'.repeat(32)}`;

/** Starts another ledger in place of that of a sandbox. */
const replace = (sandbox: Sandbox, options: RestartOptions = {}): Promise<unknown> =>
  sandbox.restart({
    ...options,
    whileDown: () => {
      sandbox.restore(0);
      sandbox.generate(200, { seed: 2 });
    },
  });

describe('a view whose ledger is replaced while it is live', () => {
  it.each([
    ['by that of another participant', { participantId: other }, undefined],
    ['by a reset one, over a WebSocket', {}, webSocketTransport()],
  ] as const)('is loaded again as a whole, %s', async (_, options, transport) => {
    const sandbox = await sandboxWith({ profile: '3.6' }, 100);
    const ledger = createLedger({ baseUrl: sandbox.url, retry, transport });
    const { state$, changes$ } = liveContracts(ledger, { parties: 'any' });
    const resets: string[] = [];
    let shown: readonly string[] = [];
    const subscription = changes$.subscribe((change) => {
      if (change._tag === 'Reset') resets.push(change.reason);
    });
    subscription.add(
      state$.subscribe((state) => {
        if (state.data === 'live') shown = idsOf(state.contracts);
      }),
    );
    await until(() => shown.length > 0);
    const old = new Set(shown);
    await replace(sandbox, options);
    await until(() => resets.includes('ledgerReset'));
    const fresh = liveContracts(createLedger({ baseUrl: sandbox.url }), { parties: 'any' });
    const expected = await firstValueFrom(
      fresh.state$.pipe(mergeMap((state) => (state.data === 'live' ? [idsOf(state.contracts)] : []))),
    );
    await until(() => shown.join() === expected.join());
    expect(resets).toEqual(['start', 'ledgerReset']);
    expect(expected.every((id) => old.has(id))).toBe(false);
    subscription.unsubscribe();
  });
});

describe('a processor of contracts whose ledger is replaced while it runs', () => {
  it('loads those of the other participant, and continues after a restart', async () => {
    const sandbox = await sandboxWith({ profile: '3.6' }, 100);
    const ledger = createLedger({ baseUrl: sandbox.url, retry });
    const store = memoryStore();
    const resets: string[] = [];
    const committed$ = processFeed(
      contractsFeed(ledger, { parties: 'any' }),
      (work) => {
        if (work._tag === 'ResetBatch' && work.isLast) resets.push(work.reason);
      },
      { name: 'contracts', store },
    );
    const caughtUp = () => firstValueFrom(committed$.pipe(filter(({ isCaughtUp }) => isCaughtUp)));
    const running = lastValueFrom(committed$.pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp || resets.length < 2)));
    await until(() => resets.length === 1);
    await replace(sandbox, { participantId: other });
    await running;
    expect(resets).toEqual(['start', 'ledgerReset']);
    await caughtUp();
    expect(resets).toHaveLength(2);
  });
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('a live view does not retain a contract of its first snapshot that was archived', async () => {
  const sandbox = await start();
  const party = sandbox.hostedParty('alice');
  const create = (contractId: string) =>
    sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: { contractId, signatories: [party] } }] } } });
  create('00aa');
  create('00bb');
  const view = liveContracts(createLedger({ baseUrl: sandbox.url }), { parties: [party] });
  const watching = view.state$.subscribe();
  const withSize = (size: number) =>
    firstValueFrom(view.state$.pipe(filter((state) => state.data === 'live' && state.contracts.size === size)));
  const held = await withSize(2).then((state) => {
    const contract = state.data === 'live' ? state.contracts.get('00aa') : undefined;
    return contract && new WeakRef(contract);
  });
  expect(held?.deref()?.contractId).toBe('00aa');
  sandbox.append({ Transaction: { value: { events: [{ ArchivedEvent: { contractId: '00aa' } }] } } });
  await withSize(1);
  // the last change has the contract that it removes
  create('00cc');
  await withSize(2);
  await until(() => {
    collect();
    return held?.deref() === undefined;
  });
  watching.unsubscribe();
});
