import { describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import type {
  BatchHandler,
  BatchProcessOptions,
  CheckpointStore,
  Handler,
  Ledger,
  ProcessOptions,
  TransactionalStore,
  UpdatesRequest,
  Work,
} from '../../../src/index.js';
import { expectTypeOf } from 'expect-type';

declare const ledger: Ledger;
declare const request: UpdatesRequest;
declare const plain: CheckpointStore;
declare const postgres: TransactionalStore<PoolClient>;

/** Compiled only. */
export const compiles = (): void => {
  const name = 'balances';
  void ledger.process(request, (update, tx) => {
    expectTypeOf(update).toEqualTypeOf<Work>();
    expectTypeOf(tx).toBeVoid();
  });
  void ledger.process(
    request,
    (update, tx) => {
      expectTypeOf(update).toEqualTypeOf<Work>();
      expectTypeOf(tx).toEqualTypeOf<PoolClient>();
    },
    { name, store: postgres },
  );
  void ledger.process(
    request,
    (updates, tx) => {
      expectTypeOf(updates).toEqualTypeOf<readonly Work[]>();
      expectTypeOf(tx).toEqualTypeOf<PoolClient>();
    },
    { name, store: postgres, batch: { size: 10, withinMs: 0 } },
  );

  const any: Handler = () => undefined;
  const anyBatch: BatchHandler = () => undefined;
  const inPostgres: Handler<PoolClient> = (_, tx) => tx.query('SELECT 1');
  const options: ProcessOptions<PoolClient> = { name, store: postgres };
  const batchOptions: BatchProcessOptions = { name, store: plain, batch: { size: 10, withinMs: 0 } };
  void ledger.process(request, any, options);
  void ledger.process(request, any, { name, store: plain });
  void ledger.process(request, inPostgres, options);
  void ledger.process(request, anyBatch, batchOptions);

  // @ts-expect-error -- without a store there are no transactions
  void ledger.process(request, inPostgres);
  // @ts-expect-error -- this store has no transactions
  void ledger.process(request, inPostgres, { name, store: plain });
  // @ts-expect-error -- a batch has its own commits
  void ledger.process(request, anyBatch, { batch: { size: 10, withinMs: 0 }, commitEvery: { updates: 1 } });
  // @ts-expect-error -- onPoison decides about updates that do not decode
  void ledger.process(request, any, { onInvalid: 'emit' });
};

describe('the types of process', () => {
  it('compile', () => {
    expect(compiles).toBeInstanceOf(Function);
  });
});
