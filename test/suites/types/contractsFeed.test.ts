import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { PoolClient } from 'pg';
import type { ContractType } from '../../../src/codecs/ContractType.js';
import type { AnyContract, Contract, UndecodedContract } from '../../../src/contracts/index.js';
import type { LedgerReader } from '../../../src/index.js';
import {
  contractsFeed,
  type ContractsPosition,
  type ContractsWork,
  type ResetBatch,
} from '../../../src/process/contractsFeed.js';
import { type Feed, type Handler, processFeed, type TransactionalStore } from '../../../src/process/index.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

declare const ledger: LedgerReader;
declare const iou: ContractType<{ readonly amount: string }>;
declare const offer: ContractType<{ readonly price: number }>;
declare const inUpdates: Handler;
declare const postgres: TransactionalStore<PoolClient>;

/** Compiled only. */
export const compiles = (): void => {
  const parties = 'any';
  expectTypeOf(contractsFeed(ledger, { parties })).toEqualTypeOf<Feed<ContractsWork, ContractsPosition>>();

  const feed = contractsFeed(ledger, { types: { iou, offer }, parties, onGap: 'fail' }, { batchSize: 10 });
  void processFeed(feed, (work) => {
    if (work._tag === 'ResetBatch') expectTypeOf(work.isFirst).toBeBoolean();
    else expectTypeOf(work.updateId).toBeString();
    for (const contract of work._tag === 'ResetBatch' ? work.contracts : work.added) {
      if (contract.type === 'iou') expectTypeOf(contract.payload.amount).toBeString();
      if (contract.type === 'offer') expectTypeOf(contract.payload.price).toBeNumber();
      if (contract._tag === 'UndecodedContract') expectTypeOf(contract.expectedType).toEqualTypeOf<'iou' | 'offer'>();
    }
  });
  type Ious = Contract<'iou', { readonly amount: string }> | UndecodedContract<'iou'>;
  const inPostgres: Handler<PoolClient, ContractsWork<Ious>> = (_, tx) => tx.query('SELECT 1');
  void processFeed(contractsFeed(ledger, { types: { iou }, parties }), inPostgres, { name: 'a', store: postgres });
  void processFeed(
    feed,
    (works, tx) => {
      expectTypeOf(works[0]?.offset).toEqualTypeOf<number | undefined>();
      expectTypeOf(tx).toEqualTypeOf<PoolClient>();
    },
    { name: 'a', store: postgres, batch: { size: 10, withinMs: 0 }, select: ({ _tag }) => _tag === 'ResetBatch' },
  );
  expectTypeOf<ResetBatch['contracts']>().toEqualTypeOf<readonly AnyContract[]>();

  // @ts-expect-error -- a handler of updates
  void processFeed(feed, inUpdates);
  // @ts-expect-error -- a table without the contracts of a type looks complete
  void contractsFeed(ledger, { parties, onUnknownPackage: 'wait' });
  // @ts-expect-error -- parties are required
  void contractsFeed(ledger, { types: { iou } });
};

describe('the types of contractsFeed', () => {
  it('compile', () => {
    expect(compiles).toBeInstanceOf(Function);
  });
});
