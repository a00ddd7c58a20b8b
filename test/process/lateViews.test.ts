import { expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { firstValueFrom, lastValueFrom, takeWhile } from 'rxjs';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { contractsFeed } from '../../src/process/contractsFeed.js';
import type { ContractsWork } from '../../src/process/ContractsWork.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import type { Committed } from '../../src/process/ProcessOptions.js';
import { processFeed } from '../../src/process/processFeed.js';
import { createSandbox } from '../../src/sandbox/index.js';

const offer = contractType('#sandbox-assets:Main:Offer', t.UnknownRecord);
const lockable = interfaceType('#sandbox-api:Api:Lockable', t.UnknownRecord);

/** A processor whose table has the number of views of each offer. */
const processed = () => {
  const sandbox = createSandbox();
  sandbox.uploadPackage('sandbox-api', { interfaces: ['Api:Lockable'] });
  sandbox.generate(100, { seed: 4 });
  const ledger = createLedger({ baseUrl: 'http://sandbox', port: sandbox.port });
  const query = { types: { offer, lockable }, parties: 'any' } as const;
  const store = memoryStore();
  const table = new Map<string, number>();
  const reasons: (string | undefined)[] = [];
  const write = ({ contractId, createdEvent }: AnyContract): void => {
    table.set(contractId, createdEvent.interfaceViews.length);
  };
  const handle = (work: ContractsWork): void => {
    reasons.push(work.reason);
    if (work._tag === 'ResetBatch') {
      if (work.isFirst) table.clear();
      work.contracts.forEach(write);
      return;
    }
    for (const { contractId } of work.removed) table.delete(contractId);
    for (const contract of work.added) write(contract);
    for (const { contract } of work.moved) write(contract);
  };
  const runWhile = async (isRunning: (committed: Committed) => boolean): Promise<void> => {
    const run$ = processFeed(contractsFeed(ledger, query), handle, { name: 'table', store });
    await lastValueFrom(run$.pipe(takeWhile(isRunning)), { defaultValue: undefined });
  };
  /** Whether it has not read all that is on the ledger. */
  const isBehind = ({ offset, isCaughtUp }: Committed): boolean => !isCaughtUp || offset < sandbox.ledgerEnd;
  const isComplete = async (): Promise<void> => {
    const contracts = await firstValueFrom(liveContracts(ledger, query).all$());
    expect(contracts.some(({ createdEvent }) => createdEvent.interfaceViews.length === 1)).toBe(true);
    expect(table).toEqual(
      new Map(contracts.map(({ contractId, createdEvent }) => [contractId, createdEvent.interfaceViews.length])),
    );
  };
  const upload = (): void => {
    sandbox.addInterface('#sandbox-assets:Main:Offer', '#sandbox-api:Api:Lockable');
  };
  return { sandbox, reasons, runWhile, isBehind, isComplete, upload };
};

it('a view that contracts of before get while no processor runs is read after the restart, once', async () => {
  const { reasons, runWhile, isBehind, isComplete, upload } = processed();
  await runWhile(isBehind);
  upload();
  await runWhile(isBehind);
  await isComplete();
  await runWhile(isBehind);
  expect(reasons).toEqual(['start', 'appeared']);
});

it('a view that contracts of before get while a processor runs is not read again after a restart', async () => {
  const { sandbox, reasons, runWhile, isBehind, isComplete, upload } = processed();
  let isUploaded = false;
  await runWhile((committed) => {
    if (!isUploaded && !isBehind(committed)) {
      isUploaded = true;
      upload();
      sandbox.generate(20, { seed: 6 });
    }
    return isBehind(committed) || !reasons.includes('packageFound');
  });
  await isComplete();
  const before = [...reasons];
  await runWhile(isBehind);
  expect(reasons).toEqual(before);
});
