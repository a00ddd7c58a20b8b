import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { tap } from 'rxjs';
import { contractsProjection, postgresStore } from '../../../src/postgres/index.js';
import {
  contractsFeed,
  type ContractsFeedOptions,
  type ContractsWork,
  processFeed,
} from '../../../src/process/index.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { effort } from '../../helpers/effort.js';
import { describeWithPostgres, type PostgresServer, postgresServer } from '../../helpers/postgresServer.js';
import { until } from '../../helpers/time.js';
import { canonical, tokenOf } from './children/rows.js';
import { randomFrom } from '../campaign/runs.js';
import { chooseSeed, print } from './crashes.js';
import { historyOf } from './LedgerHistory.js';
import { LedgerStates } from './LedgerStates.js';

const moves = effort(50, 50, 20);

const seed = chooseSeed();

/** An address behind which nodes of one history stand, one at a time. */
const address = 'http://ledger.example';

describeWithPostgres('a projection that follows one history from node to node', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(() => server.stop());

  it('has the rows of the ledger, and nothing twice, whatever node answers, is killed or lags', async () => {
    print(`${moves} moves, seed ${seed}`);
    const random = randomFrom(seed);
    const nodes = await twoNodes();
    const reader = follow(server.url, nodes);
    try {
      // of an empty ledger, so that the tables know everything that follows
      await until(() => reader.reasons.length > 0);
      // before anything of a synchronizer was read, nothing shows what of it comes next on another participant
      while (!isOnEach(nodes.current)) nodes.write(random);
      await reader.caughtUp();
      for (let move = 0; move < moves; move++) {
        nodes.write(random);
        await nodes.move(move, random);
        if (random() < 0.3) await reader.caughtUp();
      }
      await reader.caughtUp();
      await reader.hasExercises();
      await checkRows(reader.pool, nodes.current);
      expect(reader.reasons).toEqual(['start']);
    } finally {
      await reader.stop();
      await nodes.close();
    }
  }, 180_000);
});

/** Two participants of one history, one of which answers at the address. */
interface Nodes {
  readonly current: Sandbox;
  /** Sends a request to the node behind the address. */
  readonly fetch: typeof globalThis.fetch;
  /** Commits updates on either node. */
  readonly write: (random: () => number) => void;
  /** Leads the address to the other node: without a failed request, or because the former one restarts or is closed. */
  readonly move: (count: number, random: () => number) => Promise<void>;
  readonly close: () => Promise<void>;
}

async function twoNodes(): Promise<Nodes> {
  let current = await startSandbox();
  current.append({ TopologyTransaction: { value: {} } });
  let other = await startSandbox({ replicaOf: current });
  return {
    get current() {
      return current;
    },
    fetch: (input, init) => {
      const url = (input instanceof Request ? input.url : String(input)).replace(address, current.url);
      return fetch(input instanceof Request ? new Request(url, input) : url, init);
    },
    write: (random) => {
      const node = random() < 0.7 ? current : other;
      node.generate(1 + Math.floor(random() * 12), { seed: seed });
    },
    move: async (count, random) => {
      const former = current;
      const lags = random() < 0.3;
      if (lags) other.pause();
      former.generate(3, { seed: seed });
      current = other;
      other = former;
      if (count % 10 === 0) {
        await former.close();
        other = await startSandbox({ replicaOf: current });
      } else if (random() < 0.5) await former.restart({ downMs: 5 });
      if (!lags) return;
      await new Promise((resolve) => setTimeout(resolve, 150));
      current.resume();
    },
    close: async () => {
      await Promise.all([current.close(), other.close()]);
    },
  };
}

/** Keeps the contracts of the nodes in tables. */
function follow(connectionString: string, nodes: Nodes) {
  const pool = new Pool({ connectionString, max: 4 });
  const query = { parties: 'any', includeExercises: true } as const;
  const ledger = createLedger({ baseUrl: address, fetch: nodes.fetch, retry: { baseDelayMs: 5, maxDelayMs: 20 } });
  const options: ContractsFeedOptions & { readonly onOtherNode: 'relocate' } = { onOtherNode: 'relocate' };
  const project = contractsProjection({ pool, query, onReplaced: 'fail' });
  const reasons: string[] = [];
  let failure: Error | undefined;
  const handle = (works: readonly ContractsWork[], ...rest: Rest<typeof project>) =>
    project(works, ...rest).pipe(
      tap({
        complete: () => {
          for (const work of works) if (work._tag === 'ResetBatch' && work.isFirst) reasons.push(work.reason);
        },
      }),
    );
  const subscription = processFeed(contractsFeed(ledger, query, options), handle, {
    name: 'contracts',
    store: postgresStore({ pool, pollMs: 10 }),
    batch: { size: 20, withinMs: 2 },
  }).subscribe({
    error: (error: unknown) => {
      failure = error instanceof Error ? error : new Error(String(error));
    },
  });
  return {
    pool,
    reasons,
    /** Resolves when the tables have the active contracts of the ledger; rejects if the processor ends. */
    caughtUp: async (): Promise<void> => {
      const wanted = () => activeIn(nodes.current);
      await until(async () => failure !== undefined || same(await activeRows(pool), wanted()));
      if (failure !== undefined) throw failure;
    },
    /** Resolves when the tables have as many exercises as the ledger: the last updates may change no active contract. */
    hasExercises: async (): Promise<void> => {
      const { length } = historyOf(nodes.current.updates, []).flatMap(({ exercises }) => exercises);
      await until(async () => {
        const { rows } = await pool.query<{ readonly count: number }>(
          "SELECT count(*)::int AS count FROM contracts.exercises('')",
        );
        return failure !== undefined || (rows[0]?.count ?? 0) >= length;
      });
      if (failure !== undefined) throw failure;
    },
    stop: async () => {
      subscription.unsubscribe();
      await pool.end();
    },
  };
}

type Rest<F extends (...parameters: never) => unknown> =
  Parameters<F> extends readonly [unknown, ...infer R] ? R : never;

const same = (one: readonly string[], other: readonly string[]): boolean => one.join() === other.join();

/** The active contracts of the ledger, folded without the library. */
const activeIn = ({ updates, ledgerEnd }: Sandbox): readonly string[] =>
  [...new LedgerStates(updates).at(ledgerEnd).values()].map(tokenOf).sort();

/** Whether each synchronizer has an active contract. */
const isOnEach = ({ updates, ledgerEnd, synchronizers }: Sandbox): boolean => {
  const used = new Set([...new LedgerStates(updates).at(ledgerEnd).values()].map((state) => state.synchronizerId));
  return synchronizers.every((synchronizerId) => used.has(synchronizerId));
};

const activeRows = (pool: Pool): Promise<readonly string[]> =>
  pool.query<Record<string, unknown>>("SELECT * FROM contracts.active('')").then(
    ({ rows }) =>
      rows
        .map((row) =>
          tokenOf({
            contractId: String(row['contract_id']),
            synchronizerId: String(row['synchronizer_id']),
            inFlightTo: row['in_flight_to'] as string | null,
            reassignmentCounter: Number(row['reassignment_counter']),
            payload: row['payload'],
          }),
        )
        .sort(),
    () => ['no tables yet'],
  );

/** Compares the history in the tables with that of the ledger by contract, because each node has other offsets. */
async function checkRows(pool: Pool, { updates }: Sandbox): Promise<void> {
  const history = historyOf(updates, []);
  const ids = async (rows: string): Promise<readonly string[]> =>
    (await pool.query<{ readonly contract_id: string }>(`SELECT contract_id FROM contracts.${rows}`)).rows
      .map(({ contract_id: id }) => id)
      .sort();
  expect(await ids("creates('')")).toEqual(history.flatMap(({ appeared }) => appeared).sort());
  expect(await ids("archives('')")).toEqual(history.flatMap(({ disappeared }) => disappeared).sort());
  const { rows } = await pool.query<Record<string, unknown>>("SELECT * FROM contracts.exercises('')");
  const exercised = rows.map((row) => [row['contract_id'], row['choice'], row['argument'], row['result']]);
  const expected = history
    .flatMap(({ exercises }) => exercises)
    .map(({ contractId, choice, choiceArgument, exerciseResult }) => [
      contractId,
      choice,
      choiceArgument,
      exerciseResult,
    ]);
  const sorted = (values: readonly unknown[]) => values.map((value) => JSON.stringify(canonical(value))).sort();
  expect(sorted(exercised)).toEqual(sorted(expected));
  const { rows: transactions } = await pool.query<{ readonly transaction_id: string }>(
    'SELECT transaction_id FROM contracts.transactions',
  );
  const known = new Set(transactions.map(({ transaction_id: id }) => id));
  expect(known.size).toBe(transactions.length);
  // an update that only moves a contract changes nothing if the participant sees the other half of the move first
  const exercising = history.filter(({ exercises: list }) => list.length > 0).map(({ updateId }) => updateId);
  expect(exercising.filter((id) => !known.has(id))).toEqual([]);
  const all = new Set(history.map(({ updateId }) => updateId));
  expect([...known].filter((id) => !all.has(id))).toEqual([]);
}
