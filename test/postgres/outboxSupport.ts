import { beforeEach } from '@jest/globals';
import type { Pool, PoolClient } from 'pg';
import { lastValueFrom, take, toArray } from 'rxjs';
import { type CommandsRequest, createLedger, type Diagnostic, type Ledger } from '../../src/index.js';
import { type CommandOutbox, commandOutbox, type SubmitAllOptions, type Submitted } from '../../src/postgres/index.js';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { createAsset, transactionPath, withParties } from '../sandbox/commands.js';
import type { Database } from './support.js';

export { transactionPath };

/** A row of the outbox. */
export interface Row {
  readonly command_id: string;
  readonly state: string;
  readonly may_be_committed: boolean;
  readonly reason: string | null;
  readonly error: string | null;
  readonly offset: number | null;
  readonly failures: number;
  readonly id: number;
}

/** A transaction that a test ends. */
interface OpenTransaction {
  readonly tx: PoolClient;
  readonly end: (how: 'COMMIT' | 'ROLLBACK') => Promise<unknown>;
}

/** An outbox, a sandbox to which its commands are sent, and a party of it. */
export interface OutboxWorld {
  readonly sandbox: Sandbox;
  readonly alice: string;
  readonly ledger: Ledger;
  readonly diagnostics: readonly Diagnostic[];
  readonly outbox: CommandOutbox;
  /** A request that creates a contract. */
  readonly create: (commandId?: string) => CommandsRequest;
  readonly begin: () => Promise<OpenTransaction>;
  readonly inTransaction: (work: (tx: PoolClient) => unknown, how?: 'COMMIT' | 'ROLLBACK') => Promise<unknown>;
  /** Sends until that many outcomes are emitted. */
  readonly send: (count: number, options?: SubmitAllOptions) => Promise<{ readonly submitted: readonly Submitted[] }>;
  readonly rows: () => Promise<readonly Row[]>;
  /** The bodies that were sent, by command id. */
  readonly bodies: () => Readonly<Record<string, readonly object[]>>;
}

/** What differs from the default. */
interface WorldOptions {
  readonly pool?: Pool;
  readonly schema?: string;
  readonly sandbox?: SandboxOptions;
}

/** Short delays. */
export const soon = { pollMs: 10, retry: { baseDelayMs: 10, maxDelayMs: 50 } } as const;

/** Returns a function that starts worlds. The tables are removed before each test. */
export function outboxes(database: Database): (options?: WorldOptions) => Promise<OutboxWorld> {
  beforeEach(async () => {
    await database.pool.query('DROP TABLE IF EXISTS canton_rx_outbox CASCADE');
  });
  return async ({ pool = database.pool, schema = 'public', sandbox: options } = {}) => {
    const { sandbox, alice } = await withParties(options);
    const ledger = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5, maxDelayMs: 50 } });
    const diagnostics: Diagnostic[] = [];
    ledger.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
    const outbox = commandOutbox({ pool, schema });
    const begin = async (): Promise<OpenTransaction> => {
      const tx = await pool.connect();
      await tx.query('BEGIN');
      const end = async (how: string): Promise<void> => {
        await tx.query(how);
        tx.release();
      };
      return { tx, end };
    };
    return {
      sandbox,
      alice,
      ledger,
      diagnostics,
      outbox,
      create: (commandId) => ({
        commands: [createAsset(alice)],
        actAs: [alice],
        userId: 'app',
        ...(commandId !== undefined && { commandId }),
      }),
      begin,
      inTransaction: async (work, how = 'COMMIT') => {
        const { tx, end } = await begin();
        try {
          await work(tx);
          await end(how);
        } catch (error) {
          tx.release(true);
          throw error;
        }
      },
      send: async (count, more = {}) => {
        const submitted = await lastValueFrom(
          outbox.submitAll(ledger, { ...soon, ...more }).pipe(take(count), toArray()),
        );
        return { submitted };
      },
      rows: async () => {
        const sql = `SELECT *, id::int AS id, "offset"::int AS "offset" FROM ${schema}.canton_rx_outbox ORDER BY canton_rx_outbox.id`;
        return (await database.pool.query<Row>(sql)).rows;
      },
      bodies: () => {
        const bodies: Record<string, object[]> = {};
        for (const { path, body } of sandbox.requests)
          if (path === transactionPath) {
            const { commands } = body as { readonly commands: { readonly commandId: string } };
            (bodies[commands.commandId] ??= []).push(commands);
          }
        return bodies;
      },
    };
  };
}

/** The command ids of the transactions of a ledger, in its order. */
export const committedIds = (sandbox: Sandbox): readonly string[] =>
  sandbox.updates.flatMap((update) => {
    const { commandId } = updateValue(update) as { readonly commandId?: string };
    return commandId === undefined || commandId === '' ? [] : [commandId];
  });
