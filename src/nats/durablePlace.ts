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

/** The place of a durable, held by one of its replicas. */
interface DurablePlace extends FeedPlace {
  /** Emits, or fails with a `StoreError` if another replica has taken the place. */
  readonly held$: Observable<unknown>;
}

/** How a durable is shared. */
interface DurableSettings {
  readonly durable: string;
  readonly ackWaitMs: number;
  /** Called when everything up to an offset has been saved. */
  readonly onSaved: (offset: number) => void;
}

/**
 * Returns the place of a durable: a record with the cursor and with the ID of the replica that holds it. The holder
 * writes it at least every third of `ackWaitMs`; another replica takes it if it has not been written for `ackWaitMs`. A
 * write replaces only the record that its writer knows, so a holder that lost the place without noticing cannot move
 * it.
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
  /** The ID of the replica that holds the place. */
  readonly holder?: string | undefined;
  /** The cursor of the processor; absent before the first commit. */
  readonly cursor?: unknown;
}

const PlaceRecord = message<PlaceRecord>('PlaceRecord', { holder: optional(text), cursor: optional(t.unknown) });

/** Decodes the record of a durable; that of a new one is empty. */
function recordOf(durable: string, stored: StoredRecord | undefined): PlaceRecord {
  const result = PlaceRecord.decode(stored?.record ?? {});
  if (result._tag === 'Right') return result.right;
  throw new CursorError('unreadable', durable, 'the record of the durable was not written by this library');
}

/** The record as a waiting replica last saw it. */
interface Sighting {
  readonly stored: StoredRecord | undefined;
  readonly at: number;
  /** The time since which the record is unchanged. */
  readonly since: number;
}

/** The longest delay before a replica checks the place again, in milliseconds. */
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
    // the response to an earlier attempt of this replica may have been lost
    return other === undefined || other === holder || at - since >= ackWaitMs;
  };
  return callServer(stream, () => places.get(name)).pipe(
    repeat({ delay: Math.min(maxPollMs, ackWaitMs / 3) }),
    scan((seen: Sighting | undefined, stored): Sighting => {
      const at = performance.now();
      // while the server was unavailable, or this process was suspended, the holder could not write either
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

/** Emits the revision of a place that was taken. Releases the place if the subscriber has gone before the response. */
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
  /** Writes a cursor after the previous writes, with retries. Fails with a `StoreError` if the place is lost. */
  readonly write: (cursor: () => unknown) => Observable<unknown>;
  /** Passes the place to the next replica. */
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
  // one write at a time: each requires the revision of the previous one
  let running = 0;
  let previous: Promise<unknown> = Promise.resolve();
  const put = async (cursor: unknown): Promise<void> => {
    const startedAt = performance.now();
    let revision = await places.put(name, { holder, cursor }, known.revision);
    if (revision === undefined) {
      // the response to an earlier write of this holder may have been lost
      const stored = await places.get(name);
      if (stored === undefined || recordOf(durable, stored).holder !== holder) throw lost(durable);
      revision = await places.put(name, { holder, cursor }, stored.revision);
    }
    // an earlier write of this holder came in between: the next attempt detects it
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
    // the cursor is read when it is written: renewing the record must not undo a save that was still running
    write: (cursor) => callServer(stream, () => inTurn(() => put(cursor()))),
    release: () => {
      // at once if possible: the connection may be closed next
      if (running === 0) send();
      else void inTurn(send).catch(() => undefined);
    },
  };
}

/** Writes the record if it has not been written for a third of the time after which another replica takes it. */
const renewals = (lease: Lease, { ackWaitMs }: DurableSettings): Observable<never> => {
  const dueMs = (): number => Math.max(0, lease.writtenAt() + ackWaitMs / 3 - performance.now());
  return defer(() => timer(dueMs())).pipe(
    concatMap(() => (dueMs() > 1 ? EMPTY : lease.write(lease.cursor))),
    ignoreElements(),
    repeat(),
  );
};

const lost = (durable: string): StoreError => new StoreError('hold', durable, 'another processor holds the name now');
