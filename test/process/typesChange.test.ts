import { expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { firstValueFrom, lastValueFrom, takeWhile } from 'rxjs';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import type { AnyContract, ContractTypes } from '../../src/contracts/Contract.js';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { contractsFeed } from '../../src/process/contractsFeed.js';
import type { ContractsWork } from '../../src/process/ContractsWork.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { processFeed } from '../../src/process/processFeed.js';
import { createSandbox } from '../../src/sandbox/index.js';

const asset = contractType('#sandbox-assets:Main:Asset', t.UnknownRecord);
const offer = contractType('#sandbox-assets:Main:Offer', t.UnknownRecord);
const task = contractType('#sandbox-tasks:Tasks.Model:Task', t.UnknownRecord);
const holding = interfaceType('#sandbox-api:Api:Holding', t.UnknownRecord);

/** The types of each start: more, fewer, others, by another name, and an interface that is not a type of its contracts. */
const starts: readonly ContractTypes[] = [
  { asset },
  { asset, offer },
  { asset, offer, task },
  { task },
  { holding },
  { asset, holding },
  { thing: asset, holding, task },
  { asset, offer, task },
];

/** A contract as a handler sees it. */
const seenOf = ({ contractId, type, createdEvent }: AnyContract) => ({
  ...{ contractId, type, argument: createdEvent.createArgument },
  views: createdEvent.interfaceViews.map(({ interfaceId, viewValue }) => ({ interfaceId, viewValue })),
});

it('the types of a query grow and shrink between two starts: the handler has what the query selects, and nothing is left out', async () => {
  const sandbox = createSandbox();
  sandbox.generate(200, { seed: 4 });
  const ledger = createLedger({ baseUrl: 'http://sandbox', port: sandbox.port });
  const store = memoryStore();
  const rows = new Map<string, ReturnType<typeof seenOf>>();
  const reasons: string[] = [];
  const handle = (work: ContractsWork): void => {
    if (work._tag === 'ResetBatch') {
      if (work.isFirst) rows.clear();
      reasons.push(work.reason);
    }
    const { added, removed, moved } =
      work._tag === 'ResetBatch' ? { added: work.contracts, removed: [], moved: [] } : work;
    for (const contract of added) {
      expect(rows.has(contract.contractId)).toBe(false);
      rows.set(contract.contractId, seenOf(contract));
    }
    for (const { contractId } of removed) expect(rows.delete(contractId)).toBe(true);
    for (const { contract } of moved) rows.set(contract.contractId, seenOf(contract));
  };
  const inOrder = (contracts: Iterable<ReturnType<typeof seenOf>>) =>
    [...contracts].sort((a, b) => (a.contractId < b.contractId ? -1 : 1));
  for (const types of starts) {
    const query = { types, parties: 'any' } as const;
    const feed = contractsFeed(ledger, query, { batchSize: Infinity });
    const end = sandbox.ledgerEnd;
    await lastValueFrom(
      processFeed(feed, handle, { name: 'table', store }).pipe(
        takeWhile(({ offset, isCaughtUp }) => !isCaughtUp || offset < end),
      ),
      { defaultValue: undefined },
    );
    // a view reads its contracts anew
    const contracts = await firstValueFrom(liveContracts(ledger, query).all$());
    expect(contracts.length).toBeGreaterThan(0);
    expect(inOrder(rows.values())).toEqual(inOrder(contracts.map(seenOf)));
    sandbox.generate(30, { seed: rows.size });
  }
  expect(reasons).toEqual(['start', ...starts.slice(1).map(() => 'selectionChanged')]);
});
