import type { Pool } from 'pg';
import { lastValueFrom, take, toArray } from 'rxjs';
import type { Update } from '../../../../src/codecs/Update.js';
import { acsDelta, ledgerEffects } from '../../../../src/codecs/UpdateFormat.js';
import { contractChanges } from '../../../../src/contracts/contractChanges.js';
import { createLedger } from '../../../../src/ledger/createLedger.js';

/** The ledger in the form in which the example must store it. */
export interface Expected {
  /** The active contracts, by id. */
  readonly active: ReadonlyMap<string, { payload: unknown; counter: number; inFlightTo: string | null }>;
  /** The archived contracts, with the offsets of their archivals. */
  readonly archived: readonly string[];
  /** The exercises, by the ids of their events. */
  readonly exercises: readonly string[];
}

const newLedger = (baseUrl: string, token: string) =>
  createLedger({ baseUrl, token, requestTimeoutMs: 1_000, retry: { baseDelayMs: 1 } });

/** Reads a range of a ledger, without checkpoints. */
export async function readUpdates(
  baseUrl: string,
  endInclusive: number,
  beginExclusive = 0,
  token = 'reader',
  format = acsDelta,
): Promise<readonly Update[]> {
  const request = { beginExclusive, endInclusive, updateFormat: format({ parties: 'any' }) };
  const updates = await lastValueFrom(newLedger(baseUrl, token).updates(request).pipe(toArray()));
  return updates.filter(({ _tag }) => _tag !== 'OffsetCheckpoint');
}

/**
 * Computes what the example must store: the active contracts from a snapshot, the rest from the updates after `oldest`,
 * where the example has begun with a snapshot.
 */
export async function readExpected(baseUrl: string, end: number, oldest = 0): Promise<Expected> {
  const change = await lastValueFrom(contractChanges(newLedger(baseUrl, 'reader'), { parties: 'any' }).pipe(take(1)));
  if (change._tag !== 'Reset') throw new Error('the contracts come first');
  const active = change.contracts.map(({ contractId, createdEvent, reassignmentCounter, location }) => {
    const inFlightTo = 'inFlight' in location ? location.inFlight.target : null;
    return [contractId, { payload: createdEvent.createArgument, counter: reassignmentCounter, inFlightTo }] as const;
  });
  const events = (await readUpdates(baseUrl, end, oldest, 'reader', ledgerEffects)).flatMap((update) =>
    update._tag === 'Transaction' ? update.events : [],
  );
  const exercised = events.filter((event) => event._tag === 'ExercisedEvent');
  return {
    active: new Map(active),
    archived: exercised
      .filter(({ consuming, acsDelta: isStored }) => consuming && isStored)
      .map(({ contractId, offset }) => `${contractId} ${offset}`)
      .sort(),
    exercises: exercised.map(({ offset, nodeId }) => `(${offset},${nodeId})`).sort(),
  };
}

/** Reads what the example has stored, and from which offset on. */
export async function readStored(pool: Pool): Promise<Expected & { readonly oldest: number }> {
  const active = await pool.query<{ id: string; payload: unknown; counter: number; inFlightTo: string | null }>(
    `SELECT contract_id AS id, payload, reassignment_counter::int AS counter, in_flight_to AS "inFlightTo"
     FROM contracts.active()`,
  );
  const archived = await pool.query<{ key: string }>(
    `SELECT contract_id || ' ' || archived_at_offset AS key FROM contracts.archives()`,
  );
  const exercises = await pool.query<{ id: string }>('SELECT exercise_event_id::text AS id FROM contracts.exercises()');
  const oldest = await pool.query<{ oldest: number }>('SELECT contracts.oldest_offset()::int AS oldest');
  return {
    active: new Map(active.rows.map(({ id, ...rest }) => [id, rest])),
    archived: archived.rows.map(({ key }) => key).sort(),
    exercises: exercises.rows.map(({ id }) => id).sort(),
    oldest: oldest.rows[0]?.oldest ?? 0,
  };
}
