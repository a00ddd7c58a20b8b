import { nuid } from '@nats-io/nats-core';
import * as t from 'io-ts';
import {
  concatMap,
  defer,
  EMPTY,
  filter,
  finalize,
  from,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  repeat,
  scan,
  switchMap,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { CursorError, StoreError } from '../errors/process.js';
import type { FeedPlace } from '../process/Feed.js';
import { callServer, callServerOnce, type NatsStream, retryServer } from './NatsStream.js';
import type { PlaceBucket, StoredRecord } from './PlaceBucket.js';

/** The place of a durable, which one of its replicas holds. */
interface DurablePlace extends FeedPlace {
  /** Emits, or fails with a `StoreError` if another replica holds the place by now. */
  readonly held$: Observable<unknown>;
}

/** How a durable is shared. */
interface DurableSettings {
  readonly durable: string;
  readonly ackWaitMs: number;
  /** Called when everything up to an offset is saved. */
  readonly onSaved: (offset: number) => void;
}

/**
 * The place of a durable: a record with the cursor, and with the id of the replica that holds it. The holder writes it at
 * least every third of `ackWaitMs`; another replica takes it when it was not written for `ackWaitMs`. A write replaces only
 * the record that its writer knows, so that a holder which lost the place without noticing cannot move it.
 */
export function durablePlace(stream: NatsStream, places: PlaceBucket, settings: DurableSettings): DurablePlace {
  const { durable, onSaved } = settings;
  let lease: Lease | undefined;
  const withLease = (call: (lease: Lease) => Observable<unknown>): Observable<unknown> =>
    defer(() => (lease === undefined ? throwError(() => lost(durable)) : call(lease)));
  return {
    name: durable,
    hold: () =>
      defer(() => acquire(stream, places, settings, nuid.next())).pipe(
        switchMap((acquired) => {
          lease = acquired;
          return merge(of(true), renewals(acquired, settings)).pipe(
            finalize(() => {
              acquired.release();
            }),
          );
        }),
      ),
    load: () => withLease(({ cursor }) => of(cursor())),
    save: (cursor) =>
      withLease((held) => held.write(() => cursor)).pipe(
        tap(() => {
          onSaved(cursor.offset);
        }),
      ),
    held$: withLease((held) => held.write(held.cursor)),
  };
}

/** The record of a durable. */
interface PlaceRecord {
  /** The id of the replica that holds the place. */
  readonly holder?: string | undefined;
  /** The cursor of the processor; absent before the first commit. */
  readonly cursor?: unknown;
}

const PlaceRecord = message<PlaceRecord>('PlaceRecord', { holder: optional(text), cursor: optional(t.unknown) });

/** The record of a durable; that of a new one is empty. */
function recordOf(durable: string, stored: StoredRecord | undefined): PlaceRecord {
  const result = PlaceRecord.decode(stored?.record ?? {});
  if (result._tag === 'Right') return result.right;
  throw new CursorError('unreadable', durable, 'the record of the durable is not one of this library');
}

/** What a replica that waits has seen of a record. */
interface Sighting {
  readonly stored: StoredRecord | undefined;
  readonly at: number;
  /** Since when the record is the same. */
  readonly since: number;
}

/** The longest wait before a replica looks at the place again, in milliseconds. */
const maxPollMs = 1_000;

/** Waits until no other replica holds the place, and takes it. */
function acquire(
  stream: NatsStream,
  places: PlaceBucket,
  settings: DurableSettings,
  holder: string,
): Observable<Lease> {
  const { durable, ackWaitMs } = settings;
  const name = recordName(durable);
  const isFree = ({ stored, at, since }: Sighting): boolean => {
    const { holder: other } = recordOf(durable, stored);
    // the answer to an earlier attempt of its own may have been lost
    return other === undefined || other === holder || at - since >= ackWaitMs;
  };
  return callServer(stream, () => places.get(name)).pipe(
    repeat({ delay: Math.min(maxPollMs, ackWaitMs / 3) }),
    scan((seen: Sighting | undefined, stored): Sighting => {
      const at = performance.now();
      // while the server was away, or this process slept, the holder could not write either
      const isSeenInTime = seen !== undefined && at - seen.at < ackWaitMs / 2;
      const isSame = isSeenInTime && seen.stored?.revision === stored?.revision;
      return { stored, at, since: isSame ? seen.since : at };
    }, undefined),
    filter((seen) => seen !== undefined),
    filter(isFree),
    concatMap(({ stored }) => {
      const { cursor } = recordOf(durable, stored);
      const release = (revision: number): void => {
        if (!stream.connection.isClosed()) places.send(stream.connection, name, { cursor }, revision);
      };
      const take = (): Observable<number | undefined> =>
        releasedIfUnused(places.put(name, { holder, cursor }, stored?.revision ?? 0), release);
      return callServerOnce(stream, take).pipe(
        retryServer(stream),
        filter((revision) => revision !== undefined),
        map((revision) => openLease(stream, places, durable, { holder, cursor, revision })),
      );
    }),
    take(1),
  );
}

/** The revision of a place that is taken. Releases the place if nobody waits for the answer any longer. */
const releasedIfUnused = (
  taken: Promise<number | undefined>,
  release: (revision: number) => void,
): Observable<number | undefined> => {
  let isUsed = false;
  return from(taken).pipe(
    tap(() => {
      isUsed = true;
    }),
    finalize(() => {
      if (isUsed) return;
      taken.then(
        (revision) => {
          if (revision !== undefined) release(revision);
        },
        () => undefined,
      );
    }),
  );
};

const recordName = (durable: string): string => `reader.${durable}`;

/** A place that is held. */
interface Lease {
  /** The cursor that was written last. */
  readonly cursor: () => unknown;
  /** When the record was written last, by the clock of `performance`. */
  readonly writtenAt: () => number;
  /**
   * Writes a cursor, after the writes before it and with the retries that it needs. Fails with a `StoreError` if the place is
   * lost.
   */
  readonly write: (cursor: () => unknown) => Observable<unknown>;
  /** Gives the place to the next replica. */
  readonly release: () => void;
}

/** A record as its holder knows it. */
interface HeldRecord {
  readonly holder: string;
  readonly cursor: unknown;
  readonly revision: number;
}

function openLease(stream: NatsStream, places: PlaceBucket, durable: string, acquired: HeldRecord): Lease {
  const name = recordName(durable);
  const { holder } = acquired;
  let known = acquired;
  let writtenAt = performance.now();
  // one write at a time: each needs the revision of the one before
  let running = 0;
  let previous: Promise<unknown> = Promise.resolve();
  const put = async (cursor: unknown): Promise<void> => {
    const startedAt = performance.now();
    let revision = await places.put(name, { holder, cursor }, known.revision);
    if (revision === undefined) {
      // the answer to an earlier write of its own may have been lost
      const stored = await places.get(name);
      if (stored === undefined || recordOf(durable, stored).holder !== holder) throw lost(durable);
      revision = await places.put(name, { holder, cursor }, stored.revision);
    }
    // an earlier write of its own has come in between: the next attempt finds out
    if (revision === undefined) throw new Error('the record of the place has changed');
    known = { holder, cursor, revision };
    writtenAt = startedAt;
  };
  const inTurn = (work: () => unknown): Promise<unknown> => {
    running += 1;
    const result = previous.then(work).finally(() => {
      running -= 1;
    });
    previous = result.catch(() => undefined);
    return result;
  };
  const send = (): void => {
    const { connection } = stream;
    if (!connection.isClosed()) places.send(connection, name, { cursor: known.cursor }, known.revision);
  };
  return {
    cursor: () => known.cursor,
    writtenAt: () => writtenAt,
    // the cursor is read in turn: to renew the record must not undo a save that was still running
    write: (cursor) => callServer(stream, () => inTurn(() => put(cursor()))),
    release: () => {
      // at once if possible: the connection may be closed next
      if (running === 0) send();
      else void inTurn(send).catch(() => undefined);
    },
  };
}

/** Writes the record when it was not written for a third of the time after which another replica takes it. */
const renewals = (lease: Lease, { ackWaitMs }: DurableSettings): Observable<never> => {
  const dueMs = (): number => Math.max(0, lease.writtenAt() + ackWaitMs / 3 - performance.now());
  return defer(() => timer(dueMs())).pipe(
    concatMap(() => (dueMs() > 1 ? EMPTY : lease.write(lease.cursor))),
    ignoreElements(),
    repeat(),
  );
};

const lost = (durable: string): StoreError => new StoreError('hold', durable, 'another processor holds the name now');
