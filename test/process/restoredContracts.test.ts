import fc from 'fast-check';
import { expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, map, takeWhile } from 'rxjs';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { contractChanges } from '../../src/contracts/contractChanges.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { contractsFeed, type ContractsFeedOptions } from '../../src/process/contractsFeed.js';
import type { ContractsWork } from '../../src/process/ContractsWork.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import type { Committed } from '../../src/process/ProcessOptions.js';
import { processFeed } from '../../src/process/processFeed.js';
import {
  createSandbox,
  type Sandbox,
  type SandboxProfile,
  type WireEventInput,
  type WireUpdateInput,
} from '../../src/sandbox/index.js';

const locationOf = ({ location, reassignmentCounter }: AnyContract): string =>
  JSON.stringify([location, reassignmentCounter]);

/** A table that expects each work to fit what it has: nothing is added twice, and only what is there goes or moves. */
const strictTable = () => {
  const rows = new Map<string, { readonly location: string; readonly hasBlob: boolean }>();
  const flaws: string[] = [];
  const reasons: string[] = [];
  const put = (contract: AnyContract, isThere: boolean): void => {
    const { contractId, createdEvent } = contract;
    if (rows.has(contractId) !== isThere) flaws.push(isThere ? 'moves what is not there' : 'adds what is there');
    rows.set(contractId, { location: locationOf(contract), hasBlob: createdEvent.createdEventBlob !== '' });
  };
  const handle = (work: ContractsWork): void => {
    if (work._tag === 'ResetBatch') {
      if (work.isFirst) rows.clear();
      if (work.isLast) reasons.push(work.reason);
      for (const contract of work.contracts) put(contract, false);
      return;
    }
    for (const { contractId } of work.removed) if (!rows.delete(contractId)) flaws.push('removes what is not there');
    for (const contract of work.added) put(contract, false);
    for (const { contract } of work.moved) put(contract, true);
  };
  return { rows, flaws, reasons, handle };
};

/** A processor of contracts that is started again and again, at an address that leads to one of several participants. */
const processed = (nodes: readonly [Sandbox, ...Sandbox[]], options: ContractsFeedOptions = {}) => {
  let [node] = nodes;
  const table = strictTable();
  const store = memoryStore();
  const connect = () => createLedger({ baseUrl: 'http://sandbox', port: (request) => node.port(request) });
  const run = async (
    isRunning: (committed: Committed) => boolean,
    { handle = table.handle, includeCreatedEventBlob = false } = {},
  ): Promise<void> => {
    const feed = contractsFeed(connect(), { parties: 'any', includeCreatedEventBlob }, options);
    const run$ = processFeed(feed, handle, { name: 'table', store, commitEvery: { updates: 1 } });
    await lastValueFrom(run$.pipe(takeWhile(isRunning)), { defaultValue: undefined });
  };
  const isBehind = ({ offset, isCaughtUp }: Committed): boolean => !isCaughtUp || offset < node.ledgerEnd;
  const fresh = (): Promise<ReadonlyMap<string, string>> =>
    firstValueFrom(
      contractChanges(connect(), { parties: 'any' }).pipe(
        filter((change) => change._tag === 'Reset'),
        map(({ contracts }) => new Map(contracts.map((contract) => [contract.contractId, locationOf(contract)]))),
      ),
    );
  const had = (): ReadonlyMap<string, string> => new Map([...table.rows].map(([id, { location }]) => [id, location]));
  const moveTo = (index: number): void => {
    node = nodes[index] ?? nodes[0];
  };
  return { table, run, isBehind, fresh, had, moveTo };
};

/** Restores a participant, which reads the rest again in another order, at offsets that it had not. */
const restore = (sandbox: Sandbox, lost: number): void => {
  const end = sandbox.ledgerEnd;
  sandbox.pause();
  sandbox.restore(Math.max(1, end - lost), { readAgain: true, offsets: 'other' });
  sandbox.advance(end + 1 - sandbox.ledgerEnd);
  sandbox.resume();
};

it('a table has each contract once, however often its participant is restored or another one answers', async () => {
  const round = fc.record({
    unread: fc.integer({ min: 0, max: 8 }),
    lost: fc.integer({ min: 1, max: 20 }),
    after: fc.integer({ min: 0, max: 5 }),
    node: fc.nat(1),
  });
  const schedule = fc.record({
    profile: fc.constantFrom<SandboxProfile>('3.4', '3.5', '3.7'),
    seed: fc.integer({ min: 1, max: 10_000 }),
    known: fc.integer({ min: 5, max: 40 }),
    isOne: fc.boolean(),
    rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
  });
  const property = fc.asyncProperty(schedule, async ({ profile, seed, known, isOne, rounds }) => {
    const first = createSandbox({ profile });
    first.generate(known, { seed });
    // a synchronizer of which nothing was read is a limit that is documented
    fc.pre(first.synchronizers.every((id) => JSON.stringify(first.updates).includes(`"synchronizerId":"${id}"`)));
    const others = isOne ? [] : [createSandbox({ profile, replicaOf: first, replicaSeed: seed })];
    const nodes = [first, ...others] as const;
    const { table, run, isBehind, fresh, had, moveTo } = processed(nodes, { onOtherNode: 'relocate' });
    await run(isBehind);
    for (const [index, { unread, lost, after, node }] of rounds.entries()) {
      if (unread > 0) first.generate(unread, { seed: seed + index });
      for (const each of nodes) restore(each, lost);
      moveTo(node);
      first.generate(after + 1, { seed: seed + index + 100 });
      for (const each of nodes) each.resume();
      await run(isBehind);
    }
    // nothing is left over that a later change would show
    first.generate(10, { seed: seed + 200 });
    for (const each of nodes) each.resume();
    await run(isBehind);
    expect([table.flaws, had()]).toEqual([[], await fresh()]);
    for (const each of nodes) await each.close();
  });
  await fc.assert(property, { numRuns: 25 });
});

it('a load that was interrupted is completed on a participant that was restored meanwhile', async () => {
  const sandbox = createSandbox();
  sandbox.generate(60, { seed: 3 });
  const { table, run, isBehind, fresh, had } = processed([sandbox], { batchSize: 3 });
  await run(isBehind);
  let batches = 0;
  const handle = (work: ContractsWork): void => {
    if (work._tag === 'ResetBatch') batches += 1;
    table.handle(work);
  };
  // the blobs are read for all contracts
  await run(() => batches < 2, { handle, includeCreatedEventBlob: true });
  expect(table.rows.size).toBeLessThan(10);
  restore(sandbox, 20);
  sandbox.generate(5, { seed: 5 });
  await run(isBehind, { includeCreatedEventBlob: true });
  expect([table.flaws, had()]).toEqual([[], await fresh()]);
});

it('contracts get their blobs at once if the participant was restored before they were requested', async () => {
  const sandbox = createSandbox();
  sandbox.generate(60, { seed: 3 });
  const { table, run, isBehind, fresh, had } = processed([sandbox]);
  await run(isBehind);
  restore(sandbox, 20);
  sandbox.generate(5, { seed: 5 });
  await run(isBehind, { includeCreatedEventBlob: true });
  expect([...table.rows.values()].every(({ hasBlob }) => hasBlob)).toBe(true);
  expect([table.flaws, had()]).toEqual([[], await fresh()]);
});

/** Two participants of one ledger. The second one has not yet read the contract of a synchronizer that came first on the first one. */
const laggingPair = (): readonly [Sandbox, Sandbox] => {
  const first = createSandbox({ profile: '3.4', synchronizers: ['one::1220ab', 'two::1220ab'] });
  appendTo(first, 'two::1220ab', { CreatedEvent: { contractId: '00aa' } });
  appendTo(first, 'one::1220ab', { CreatedEvent: { contractId: '00bb' } });
  appendTo(first, 'one::1220ab', { CreatedEvent: { contractId: '00cc' } });
  const second = replicaWithLast(first, '00aa');
  second.pause();
  second.restore(second.ledgerEnd - 1, { readAgain: true, offsets: 'same' });
  return [first, second];
};

/** Another participant, which shows a contract after all others. */
const replicaWithLast = (first: Sandbox, contractId: string): Sandbox => {
  for (let replicaSeed = 1; ; replicaSeed += 1) {
    const second = createSandbox({ profile: '3.4', replicaOf: first, replicaSeed });
    if (JSON.stringify(second.updates.at(-1)).includes(contractId)) return second;
  }
};

const appendTo = (sandbox: Sandbox, synchronizerId: string, event: WireEventInput): void => {
  sandbox.append({ Transaction: { value: { synchronizerId, events: [event] } } });
};

it('a table keeps what another participant has not read yet, and what becomes of it there', async () => {
  const [first, second] = laggingPair();
  const { table, run, isBehind, fresh, had, moveTo } = processed([first, second], { onOtherNode: 'relocate' });
  await run(isBehind);
  moveTo(1);
  // until the rest has come, the offset is that of the first participant
  await run(({ isCaughtUp }) => !isCaughtUp);
  expect([...table.rows.keys()].sort()).toEqual(['00aa', '00bb', '00cc']);
  appendTo(first, 'two::1220ab', { ArchivedEvent: { contractId: '00aa' } });
  second.resume();
  await run(isBehind);
  expect(table.reasons).toEqual(['start']);
  expect([...table.rows.keys()].sort()).toEqual(['00bb', '00cc']);
  expect([table.flaws, had()]).toEqual([[], await fresh()]);
  await Promise.all([first.close(), second.close()]);
});

it('a table keeps what another participant reads late that has pruned something, and loses what ends there', async () => {
  const [first, second] = laggingPair();
  const { table, run, isBehind, fresh, had, moveTo } = processed([first, second], { onOtherNode: 'relocate' });
  await run(isBehind);
  second.prune(1);
  moveTo(1);
  let isResumed = false;
  // in one life of the program
  await run((committed) => {
    if (!isResumed && committed.isCaughtUp) {
      isResumed = true;
      expect([...table.rows.keys()].sort()).toEqual(['00aa', '00bb', '00cc']);
      appendTo(first, 'two::1220ab', { ArchivedEvent: { contractId: '00aa' } });
      second.resume();
      return true;
    }
    return isBehind(committed);
  });
  expect(table.reasons).toEqual(['start']);
  expect([...table.rows.keys()].sort()).toEqual(['00bb', '00cc']);
  expect([table.flaws, had()]).toEqual([[], await fresh()]);
  await Promise.all([first.close(), second.close()]);
});

it('a table gets what another participant shows between updates that were read', async () => {
  const first = createSandbox({ profile: '3.4', synchronizers: ['one::1220ab', 'two::1220ab'] });
  appendTo(first, 'two::1220ab', { CreatedEvent: { contractId: '00aa' } });
  appendTo(first, 'one::1220ab', { CreatedEvent: { contractId: '00bb' } });
  const nodes: [Sandbox, ...Sandbox[]] = [first];
  const { table, run, isBehind, fresh, had, moveTo } = processed(nodes, { onOtherNode: 'relocate' });
  await run(isBehind);
  appendTo(first, 'one::1220ab', { CreatedEvent: { contractId: '00cc' } });
  nodes.push(replicaWithLast(first, '00aa'));
  moveTo(1);
  await run(isBehind);
  expect([...table.rows.keys()].sort()).toEqual(['00aa', '00bb', '00cc']);
  expect([table.flaws, table.reasons, had()]).toEqual([[], ['start'], await fresh()]);
  for (const node of nodes) await node.close();
});

/** The updates that move a contract from one synchronizer to another. */
const moving = (contractId: string, id: number): readonly [WireUpdateInput, WireUpdateInput] => {
  const ends = { contractId, source: 'one::1220ab', target: 'two::1220ab', reassignmentCounter: 1 };
  const unassigned = { JsUnassignedEvent: { value: ends } };
  const assigned = { JsAssignmentEvent: { ...ends, createdEvent: { contractId } } };
  return [
    { Reassignment: { value: { ...headOf(id), events: [unassigned] } } },
    { Reassignment: { value: { ...headOf(id + 1), synchronizerId: 'two::1220ab', events: [assigned] } } },
  ];
};

const creating = (contractId: string, id: number): WireUpdateInput => ({
  Transaction: { value: { ...headOf(id), events: [{ CreatedEvent: { contractId } }] } },
});

const headOf = (id: number) => ({
  ...{ updateId: `1220${id}`, synchronizerId: 'one::1220ab', recordTime: `2026-01-01T00:00:0${id}Z` },
});

it('a table gets where a contract is that is in flight for ever on a participant without the target', async () => {
  const [first, second] = [createSandbox({ synchronizers: ['one::1220ab'] }), createSandbox()];
  const [unassigned, assigned] = moving('00aa', 2);
  first.append(creating('00aa', 1), unassigned, creating('00bb', 4));
  second.append(creating('00aa', 1), unassigned, assigned, creating('00bb', 4));
  const { table, run, isBehind, fresh, had, moveTo } = processed([first, second], { onOtherNode: 'relocate' });
  await run(isBehind);
  moveTo(1);
  await run(isBehind);
  expect([table.flaws, table.reasons, had()]).toEqual([[], ['start', 'appeared'], await fresh()]);
  // what moves while it runs is not loaded again
  second.append(...moving('00bb', 5));
  await run(isBehind);
  await run(isBehind);
  expect([table.flaws, table.reasons, had()]).toEqual([[], ['start', 'appeared'], await fresh()]);
  await Promise.all([first.close(), second.close()]);
});
