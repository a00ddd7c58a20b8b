import * as t from 'io-ts';
import { nuid } from '@nats-io/nats-core';
import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  finalize,
  ignoreElements,
  interval,
  merge,
  Observable,
  of,
  repeat,
  switchMap,
  take,
} from 'rxjs';
import { optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { CursorError, StoreError, type StoreOperation } from '../errors/process.js';
import { clampTimer } from '../http/retry.js';
import type { CheckpointStore } from '../process/CheckpointStore.js';
import { holdName } from '../process/memoryStore.js';
import { quotable } from '../errors/internal/message.js';
import { textOf } from '../errors/textOf.js';
import type { CursorBucket, StoredRecord } from './CursorBucket.js';
import type { NatsStream } from './NatsStream.js';
import { closedError, isRelayError, refusedSettings } from './RelayError.js';

/**
 * Returns a store that keeps the cursors of readers in a bucket. Its lock elects one of the replicas that share a name:
 * the record has the ID of the replica that holds it. The holder writes it every third of `ackWaitMs`; another replica
 * takes it if it has not been written for `ackWaitMs`. A write replaces only the record that its writer knows, so a
 * holder that lost the name without noticing cannot move the cursor.
 */
export function natsStore(
  server: StoreServer,
  bucket: CursorBucket,
  ackWaitMs: number,
): Required<Pick<CheckpointStore, 'hold' | 'load' | 'save'>> {
  /** The IDs under which this store has taken names: each run has another one, so that nothing of an earlier run passes for it. */
  const own = new Set<string>();
  const leases = new Map<string, Lease>();
  const withLease = <A>(operation: StoreOperation, name: string, work: (lease: Lease) => Promise<A>): Promise<A> =>
    callStore(server, operation, name, () => {
      const lease = leases.get(name);
      return lease === undefined ? Promise.reject(lost(name)) : work(lease);
    });
  /** Renews the record. A failure other than the loss is left to the next renewal, and to the next save. */
  const renewals = (lease: Lease): Observable<never> =>
    interval(clampTimer(ackWaitMs / 3)).pipe(
      exhaustMap(() =>
        defer(() => lease.write(lease.cursor)).pipe(
          catchError((error: unknown) => {
            if (isLedgerError(error)) throw error;
            return EMPTY;
          }),
        ),
      ),
      ignoreElements(),
    );
  const holdLease = (name: string, lease: Lease): Observable<unknown> => {
    leases.set(name, lease);
    return merge(of(true), renewals(lease)).pipe(
      finalize(() => {
        leases.delete(name);
        lease.release();
      }),
    );
  };
  return {
    load: (name) =>
      callStore(server, 'load', name, async () => {
        const lease = leases.get(name);
        // a standby has no lease
        return lease === undefined ? recordOf(name, await bucket.get(keyOf(name))).cursor : lease.cursor();
      }),
    save: (name, cursor) => withLease('save', name, (lease) => lease.write(() => cursor)),
    hold: (name, standBy) =>
      holdName(leases, name, standBy).pipe(
        switchMap(() => acquire(server, bucket, { name, own, ackWaitMs, standBy })),
        switchMap((lease) => holdLease(name, lease)),
      ),
  };
}

/** The record of a reader. */
interface ReaderRecord {
  /** The ID of the replica that holds the name. */
  readonly holder?: string | undefined;
  /** The cursor of the processor; absent before the first commit. */
  readonly cursor?: unknown;
}

const ReaderRecord = message<ReaderRecord>('ReaderRecord', { holder: optional(text), cursor: optional(t.unknown) });

/** Decodes the record of a reader; that of a new one is empty. */
function recordOf(name: string, stored: StoredRecord | undefined): ReaderRecord {
  const result = ReaderRecord.decode(stored?.record ?? {});
  if (result._tag === 'Right') return result.right;
  throw new CursorError('unreadable', name, 'the record was not written by this library');
}

const keyOf = (name: string): string => `reader.${name}`;

/** The longest delay before a replica checks the record again, in milliseconds. */
const maxPollMs = 1_000;

/** The events that a replica waits for. */
interface Wanted {
  readonly name: string;
  /** The IDs of this replica, to which that of each attempt is added. */
  readonly own: Set<string>;
  readonly ackWaitMs: number;
  /** Called each time that another replica is found to hold the name. */
  readonly standBy: (() => void) | undefined;
}

/** Waits until no other replica holds a name, and takes it. */
const acquire = (
  server: StoreServer,
  bucket: CursorBucket,
  { name, own, ackWaitMs, standBy }: Wanted,
): Observable<Lease> =>
  defer(() => {
    const holder = nuid.next();
    let seen: { readonly revision: number | undefined; readonly at: number; readonly since: number } | undefined;
    const isFree = (stored: StoredRecord | undefined): boolean => {
      const at = performance.now();
      // while the server was unavailable, or this process was suspended, the holder could not write either
      const isSeenInTime = seen !== undefined && at - seen.at < ackWaitMs / 2;
      const isSame = isSeenInTime && seen?.revision === stored?.revision;
      seen = { revision: stored?.revision, at, since: isSame ? (seen?.since ?? at) : at };
      const { holder: other } = recordOf(name, stored);
      // an earlier run of this replica has ended; the response to its attempt, or its release, may have been lost
      return other === undefined || own.has(other) || at - seen.since >= ackWaitMs;
    };
    const takeRecord = async (stored: StoredRecord | undefined): Promise<Lease | undefined> => {
      const { cursor } = recordOf(name, stored);
      own.add(holder);
      const revision = await bucket.put(keyOf(name), { holder, cursor }, stored?.revision ?? 0);
      return revision === undefined ? undefined : openLease(bucket, name, { holder, cursor, revision });
    };
    return defer(() => callStore(server, 'hold', name, () => bucket.get(keyOf(name)))).pipe(
      repeat({ delay: Math.min(maxPollMs, ackWaitMs / 3) }),
      filter((stored) => {
        if (isFree(stored)) return true;
        standBy?.();
        return false;
      }),
      concatMap((stored) => releasedIfUnused(callStore(server, 'hold', name, () => takeRecord(stored)))),
      filter((lease) => lease !== undefined),
      take(1),
    );
  });

/** Emits a lease. Releases it if the subscriber has gone before the response. */
const releasedIfUnused = (taken: Promise<Lease | undefined>): Observable<Lease | undefined> =>
  new Observable((subscriber) => {
    taken.then(
      (lease) => {
        if (subscriber.closed) lease?.release();
        subscriber.next(lease);
        subscriber.complete();
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
  });

/** A name that is held. */
interface Lease {
  /** The cursor that was written last. */
  readonly cursor: () => unknown;
  /** Writes a cursor after the previous writes. Fails with a `StoreError` if the name is lost. */
  readonly write: (cursor: () => unknown) => Promise<unknown>;
  /** Passes the name to the next replica. */
  readonly release: () => void;
}

/** A record as its holder knows it. */
interface HeldRecord {
  readonly holder: string;
  readonly cursor: unknown;
  readonly revision: number;
}

function openLease(bucket: CursorBucket, name: string, acquired: HeldRecord): Lease {
  const key = keyOf(name);
  const { holder } = acquired;
  let known = acquired;
  // one write at a time: each requires the revision of the previous one
  let running = 0;
  let previous: Promise<unknown> = Promise.resolve();
  const put = async (cursor: unknown): Promise<void> => {
    let revision = await bucket.put(key, { holder, cursor }, known.revision);
    if (revision === undefined) {
      // the response to an earlier write of this holder may have been lost
      const stored = await bucket.get(key);
      if (stored === undefined || recordOf(name, stored).holder !== holder) throw lost(name);
      revision = await bucket.put(key, { holder, cursor }, stored.revision);
    }
    // an earlier write of this holder came in between: the next attempt detects it
    if (revision === undefined) throw new Error('the record has changed');
    known = { holder, cursor, revision };
  };
  const inTurn = (work: () => unknown): Promise<unknown> => {
    running += 1;
    const result = previous.then(work).finally(() => {
      running -= 1;
    });
    previous = result.catch(() => undefined);
    return result;
  };
  const release = (): void => {
    bucket.send(key, { cursor: known.cursor }, known.revision);
  };
  return {
    cursor: () => known.cursor,
    // the cursor is read when it is written: renewing the record must not undo a save that was still running
    write: (cursor) => inTurn(() => put(cursor())),
    release: () => {
      // immediately if possible: the connection may be closed next
      if (running === 0) release();
      else void inTurn(release).catch(() => undefined);
    },
  };
}

const lost = (name: string): StoreError => new StoreError('hold', name, 'another processor holds the name now');

/** The server of a store, and the stream to which its cursors belong. */
type StoreServer = Pick<NatsStream, 'connection' | 'stream'>;

/** Calls a store. Fails with a `StoreError`, which the processor retries, unless a repetition cannot help. */
export async function callStore<A>(
  { connection, stream }: StoreServer,
  operation: StoreOperation,
  processor: string,
  work: () => Promise<A>,
): Promise<A> {
  try {
    return await work();
  } catch (error) {
    if (isLedgerError(error) || isRelayError(error)) throw error;
    if (connection.isClosed()) throw closedError(stream, error);
    const reason = quotable(textOf(error), []);
    const refusal = refusedSettings(stream, error, reason);
    if (refusal !== undefined) throw refusal;
    throw new StoreError(operation, processor, `NATS at ${connection.getServer()}: ${reason}`, error);
  }
}
