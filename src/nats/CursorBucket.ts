import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { headers } from '@nats-io/nats-core';
import type { NatsStream } from './NatsStream.js';
import { undefinedIfMissing } from './RelayError.js';

/** A record of a {@link CursorBucket}. */
export interface StoredRecord {
  readonly record: unknown;
  /** Increases with each change. */
  readonly revision: number;
}

/**
 * The cursors of a relay and of the readers of its stream: one small record for each, of which only the latest is kept.
 * The bucket is separate from the stream, so that the limits of the stream do not remove them.
 */
export interface CursorBucket {
  /** Resolves to the record of a key; `undefined` if there is none. */
  get(key: string): Promise<StoredRecord | undefined>;
  /**
   * Replaces the record of a key, and resolves to the new revision. If `revision` is given, replaces only that revision,
   * and resolves to `undefined` if the current one differs. The revision before the first record is 0.
   */
  put(key: string, record: unknown, revision?: number): Promise<number | undefined>;
  /** Replaces a revision without waiting for a response, which also a connection does that is being drained. */
  send(key: string, record: unknown, revision: number): void;
}

/** Returns the bucket of a stream. `replicas` is used if it has to be created. */
export function cursorBucket(
  { connection, js, stream }: Pick<NatsStream, 'connection' | 'js' | 'stream'>,
  replicas: () => Promise<number>,
): CursorBucket {
  const name = `${stream}-cursors`;
  let opened: KV | undefined;
  // requests go to the leader: another server of a cluster may not have the latest record yet
  const open = async (): Promise<KV> => new Kvm(js).create(name, { replicas: await replicas(), allow_direct: false });
  return {
    get: async (key) => {
      opened ??= await open();
      const entry = await undefinedIfMissing(opened.get(key));
      if (!entry) return undefined;
      // a key that an operator has deleted has a revision, but no record
      return { record: entry.operation === 'PUT' ? entry.json<unknown>() : undefined, revision: entry.revision };
    },
    put: async (key, record, revision) => {
      opened ??= await open();
      const expected = revision === undefined ? {} : { previousSeq: revision };
      return opened.put(key, JSON.stringify(record), expected).catch((error: unknown) => {
        if (revision !== undefined && isWrongSequence(error)) return undefined;
        // the bucket may have been deleted: the next attempt creates it again
        opened = undefined;
        throw error;
      });
    },
    send: (key, record, revision) => {
      if (connection.isClosed()) return;
      const expected = headers();
      expected.set('Nats-Expected-Last-Subject-Sequence', String(revision));
      connection.publish(`$KV.${name}.${key}`, JSON.stringify(record), { headers: expected });
    },
  };
}

/** The error codes for an unexpected last sequence; 10070 is that for an unexpected last message ID. */
const wrongSequenceCodes: readonly number[] = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
  10070,
];

/** Whether a message was rejected because it would not directly follow its predecessor. */
export const isWrongSequence = (error: unknown): boolean =>
  error instanceof JetStreamApiError && wrongSequenceCodes.includes(error.code);
