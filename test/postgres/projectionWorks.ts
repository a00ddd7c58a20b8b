import type { Pool, PoolClient } from 'pg';
import { lastValueFrom } from 'rxjs';
import type { AnyContract, ContractTypes } from '../../src/contracts/Contract.js';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import { makeContract } from '../../src/contracts/Contract.js';
import type { ProjectionHandler } from '../../src/postgres/index.js';
import type { ContractsWork, ResetBatch } from '../../src/process/index.js';
import { created, transactionOf } from '../helpers/contractEvents.js';
import { decodeUpdate } from '../helpers/foldLaw.js';

/** How a handler is run. */
interface WriteOptions {
  /** The name of the processor; by default the store says none. */
  readonly processor?: string;
  readonly clientOf?: (client: PoolClient) => PoolClient;
}

/** Runs a handler as a processor does, in transactions of some works. The store says in them which processor it is. */
export async function write(
  pool: Pool,
  handler: ProjectionHandler,
  works: readonly ContractsWork[],
  perCommit = works.length,
  { processor = '', clientOf = (client) => client }: WriteOptions = {},
): Promise<void> {
  const client = await pool.connect();
  try {
    for (let first = 0; first < works.length; first += perCommit) {
      await client.query('BEGIN');
      const cursor = processor === '' ? '' : JSON.stringify(['"public".canton_rx_cursors', processor]);
      await client.query(`SELECT set_config('canton_rx.cursor', $1, true)`, [cursor]);
      await lastValueFrom(handler(works.slice(first, first + perCommit), clientOf(client)), {
        defaultValue: undefined,
      });
      await client.query('COMMIT');
    }
  } finally {
    // closes it, with what a failed handler has left open
    client.release(true);
  }
}

/** The batches of a reset. */
export function batchesOf(
  reason: ResetBatch['reason'],
  offset: number,
  contracts: readonly AnyContract[],
  size = 500,
): readonly ResetBatch[] {
  const count = Math.max(1, Math.ceil(contracts.length / size));
  return Array.from({ length: count }, (_, index) => ({
    _tag: 'ResetBatch',
    reason,
    offset,
    contracts: contracts.slice(index * size, (index + 1) * size),
    isFirst: index === 0,
    isLast: index === count - 1,
  }));
}

/** An empty snapshot at offset 0, and the changes of updates in their wire form. */
export function worksOf(elements: readonly object[], types?: ContractTypes): readonly ContractsWork[] {
  const fold = new ContractsFold(makeContract(types));
  return [...batchesOf('start', 0, []), ...elements.flatMap((element) => fold.apply(decodeUpdate(element)) ?? [])];
}

/** A synchronizer. */
export const sync = 'sync-a::1220ab';

/** A transaction in its wire form that creates a contract. */
export const creates = (contractId: string, offset: number, more: object = {}): object =>
  transactionOf(offset, sync, [created({ contractId, offset, ...more })]);

/** A view of a contract; of a code other than 0 for one that failed. */
export const viewOf = (viewValue: unknown, code = 0): object => ({
  interfaceId: 'ii:Api:Holding',
  viewStatus: { code },
  viewValue,
});

/** A client that cannot copy, as that of `pg-native`. */
export const withoutCopy = (client: PoolClient): PoolClient =>
  ({ query: client.query.bind(client) }) as unknown as PoolClient;

/** The contracts that updates in their wire form create. */
export const contractsOf = (elements: readonly object[], types?: ContractTypes): readonly AnyContract[] =>
  worksOf(elements, types).flatMap((work) => (work._tag === 'ContractsChanged' ? work.added : []));
