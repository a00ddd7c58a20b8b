import type { BatchHandler } from 'canton-rx/process';
import type { PoolClient } from 'pg';
import type { Change } from './change.js';
import { entryOf } from './entry.js';

const remember = `INSERT INTO history ("offset", update_id, kind, changes)
  SELECT "offset", "updateId", kind, changes
  FROM jsonb_to_recordset($1) AS e ("offset" bigint, "updateId" text, kind text, changes jsonb)
  ORDER BY "offset"`;
const add = `INSERT INTO contracts (contract_id, synchronizer_id, template_id, payload)
  SELECT "contractId", "synchronizerId", created ->> 'templateId', created -> 'payload'
  FROM jsonb_to_recordset($1) AS c ("contractId" text, "synchronizerId" text, created jsonb)
  ON CONFLICT (contract_id, synchronizer_id) DO UPDATE SET payload = excluded.payload`;
const remove = `DELETE FROM contracts
  USING jsonb_to_recordset($1) AS c ("contractId" text, "synchronizerId" text)
  WHERE contract_id = "contractId" AND synchronizer_id = "synchronizerId"`;

/**
 * Handles a batch with three statements, in the transaction that also saves the position. All of it is committed or
 * nothing, so each update takes effect once, whenever the process ends.
 */
export const postgresHandler: BatchHandler<PoolClient> = async (updates, tx) => {
  const entries = updates.map(entryOf);
  // a contract may be added and removed within one batch: only its last change counts
  const last = new Map<string, Change>();
  for (const change of entries.flatMap(({ changes }) => changes))
    last.set(`${change.contractId} ${change.synchronizerId}`, change);
  const changes = [...last.values()];
  await tx.query(remember, [JSON.stringify(entries)]);
  await tx.query(add, [JSON.stringify(changes.filter(({ created }) => created !== undefined))]);
  await tx.query(remove, [JSON.stringify(changes.filter(({ created }) => created === undefined))]);
};
