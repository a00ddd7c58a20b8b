import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { PoolClient } from 'pg';
import { type Observable, of } from 'rxjs';
import type { ContractType } from '../../../src/codecs/ContractType.js';
import type { AnyContract, Contract, UndecodedContract } from '../../../src/contracts/index.js';
import type { Ledger, LedgerPosition, LedgerReader, UpdatesRequest } from '../../../src/index.js';
import { contractsFeed } from '../../../src/process/contractsFeed.js';
import type { ContractsWork, ResetBatch } from '../../../src/process/ContractsWork.js';
import type { ContractsPosition } from '../../../src/process/ContractsPosition.js';
import {
  type BatchHandler,
  type BatchProcessOptions,
  type CheckpointStore,
  type Committed,
  type Feed,
  type Handler,
  processFeed,
  type ProcessOptions,
  type TransactionalStore,
  type Processor,
  updatesFeed,
  type UpdatesFeedRequest,
  type Work,
} from '../../../src/process/index.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

declare const ledger: Ledger;
declare const reader: LedgerReader;
declare const feed: Feed;
declare const request: UpdatesFeedRequest;
declare const plain: CheckpointStore;
declare const postgres: TransactionalStore<PoolClient>;
declare const iou: ContractType<{ readonly amount: string }>;
declare const ofAny: Handler;
declare const offer: ContractType<{ readonly price: number }>;

/** Compiled only. */
export const ofUpdates = (): void => {
  const name = 'balances';
  void processFeed(feed, (update, tx) => {
    expectTypeOf(update).toEqualTypeOf<Work>();
    expectTypeOf(tx).toBeVoid();
  });
  void processFeed(
    feed,
    (update, tx) => {
      expectTypeOf(update).toEqualTypeOf<Work>();
      expectTypeOf(tx).toEqualTypeOf<PoolClient>();
    },
    { name, store: postgres },
  );
  void processFeed(
    feed,
    (updates, tx) => {
      expectTypeOf(updates).toEqualTypeOf<readonly Work[]>();
      expectTypeOf(tx).toEqualTypeOf<PoolClient>();
    },
    { name, store: postgres, batch: { size: 10, withinMs: 0 } },
  );

  expectTypeOf(updatesFeed(ledger, request)).toEqualTypeOf<Feed<Work, LedgerPosition>>();
  expectTypeOf(updatesFeed(reader, request, { maxPageSize: 10, onGap: 'fail' })).toEqualTypeOf<
    Feed<Work, LedgerPosition>
  >();
  expectTypeOf(processFeed(feed, () => undefined)).toEqualTypeOf<Processor>();
  expectTypeOf(processFeed(feed, () => undefined)).toExtend<Observable<Committed>>();

  const any: Handler = () => undefined;
  const anyBatch: BatchHandler = () => undefined;
  const inPostgres: Handler<PoolClient> = (_, tx) => tx.query('SELECT 1');
  const options: ProcessOptions<PoolClient> = { name, store: postgres };
  const batchOptions: BatchProcessOptions = { name, store: plain, batch: { size: 10, withinMs: 0 } };
  void processFeed(feed, any, options);
  void processFeed(feed, any, { name, store: plain });
  void processFeed(feed, inPostgres, options);
  void processFeed(feed, anyBatch, batchOptions);

  // @ts-expect-error -- a store needs the name of the cursor
  void processFeed(feed, any, { store: plain });
  // @ts-expect-error -- a batch processor's store, too
  void processFeed(feed, anyBatch, { store: plain, batch: { size: 10, withinMs: 0 } });
  // @ts-expect-error -- and a name needs a store
  void processFeed(feed, any, { name });

  void processFeed(feed, () => Promise.resolve(1));
  void processFeed(feed, () => of(1));
  void processFeed(feed, async function* () {
    yield await Promise.resolve(1);
  });
  void processFeed(feed, (update) => (update.offset > 1 ? Promise.resolve() : undefined));
  // @ts-expect-error -- a number is not awaited
  void processFeed(feed, () => 1);
  // @ts-expect-error -- nor is what happens after a timer
  void processFeed(feed, () => setTimeout(() => undefined, 1));
  // @ts-expect-error -- nor are several Promises
  void processFeed(feed, (updates) => updates.map(() => Promise.resolve()), { batch: { size: 1, withinMs: 0 } });
  // @ts-expect-error -- without a store there are no transactions
  void processFeed(feed, inPostgres);
  // @ts-expect-error -- this store has no transactions
  void processFeed(feed, inPostgres, { name, store: plain });
  // @ts-expect-error -- a batch has its own commits
  void processFeed(feed, anyBatch, { batch: { size: 10, withinMs: 0 }, commitEvery: { updates: 1 } });
  // @ts-expect-error -- onHandlerFailure decides about updates that do not decode
  void processFeed(feed, any, { onUndecodable: 'emit' });
  // @ts-expect-error -- nor can the feed
  void updatesFeed(ledger, request, { onUndecodable: 'emit' });
  // @ts-expect-error -- a cursor moves upward
  void updatesFeed(ledger, { beginExclusive: 0, endInclusive: 9, descendingOrder: true, filter: {} });
  // @ts-expect-error -- nor may it, as one of a range of updates may
  void updatesFeed(ledger, {} as UpdatesRequest);
  void updatesFeed(ledger, { beginExclusive: 0, endInclusive: 9, descendingOrder: false, filter: {} });
  // @ts-expect-error -- a processor reads one page at a time
  void updatesFeed(ledger, request, { parallelRanges: 2 });
  // @ts-expect-error -- the size of pages is an option of the feed
  void processFeed(feed, any, { maxPageSize: 10 });
};

/** Compiled only. */
export const ofContracts = (): void => {
  const parties = 'any';
  expectTypeOf(contractsFeed(reader, { parties })).toEqualTypeOf<Feed<ContractsWork, ContractsPosition, true>>();

  const feed = contractsFeed(reader, { types: { iou, offer }, parties, onGap: 'fail' }, { batchSize: 10 });
  void processFeed(feed, () => undefined, { name: 'iou', store: plain, onHandlerFailure: 'stop' });
  // @ts-expect-error -- without a change the contracts are none that the ledger had
  void processFeed(feed, () => undefined, { name: 'iou', store: plain, onHandlerFailure: 'skip' });
  // @ts-expect-error -- nor can one be handled later
  void processFeed(feed, () => undefined, { name: 'iou', store: plain, onHandlerFailure: 'park' });
  const batch = { size: 10, withinMs: 10 };
  // @ts-expect-error -- nor can a batch
  void processFeed(feed, () => undefined, { name: 'iou', store: plain, batch, onHandlerFailure: 'skip' });
  void processFeed(updatesFeed(reader, request), () => undefined, {
    name: 'iou',
    store: plain,
    onHandlerFailure: 'skip',
  });
  void processFeed(feed, (work) => {
    if (work._tag === 'ResetBatch') expectTypeOf(work.isFirst).toBeBoolean();
    else if (work.reason === undefined) expectTypeOf(work.updateId).toBeString();
    else expectTypeOf(work.update).toBeUndefined();
    for (const contract of work._tag === 'ResetBatch' ? work.contracts : work.added) {
      if (contract.type === 'iou') expectTypeOf(contract.payload.amount).toBeString();
      if (contract.type === 'offer') expectTypeOf(contract.payload.price).toBeNumber();
      if (contract._tag === 'UndecodedContract') expectTypeOf(contract.expectedType).toEqualTypeOf<'iou' | 'offer'>();
    }
  });
  type Ious = Contract<'iou', { readonly amount: string }> | UndecodedContract<'iou'>;
  const inPostgres: Handler<PoolClient, ContractsWork<Ious>> = (_, tx) => tx.query('SELECT 1');
  void processFeed(contractsFeed(reader, { types: { iou }, parties }), inPostgres, { name: 'a', store: postgres });
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
  void processFeed(feed, ofAny);
  // @ts-expect-error -- a table without the contracts of a type looks complete
  void contractsFeed(reader, { parties, onUnknownPackage: 'wait' });
  // @ts-expect-error -- parties are required
  void contractsFeed(reader, { types: { iou } });
};

describe('the types of processFeed', () => {
  it('compile, for updates and for contracts', () => {
    expect([ofUpdates, ofContracts]).toHaveLength(2);
  });
});
