import { JetStreamApiCodes, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/nats-core';
import { undefinedIfMissing } from './RelayError.js';

/** A record of a {@link PlaceBucket}. */
export interface StoredRecord {
  readonly record: unknown;
  /** Increases with each change. */
  readonly revision: number;
}

/**
 * The cursors of a relay and of the durables of its stream: one small record for each, of which only the latest is
 * kept. They have a separate stream, so that the limits of the relay's stream do not remove them.
 */
export interface PlaceBucket {
  /** Resolves to the record of a name; `undefined` if there is none. */
  get(name: string): Promise<StoredRecord | undefined>;
  /**
   * Replaces the record of a name, and resolves to the new revision. If `revision` is given, replaces only that
   * revision, and resolves to `undefined` if the current one differs. The revision before the first record is 0.
   */
  put(name: string, record: unknown, revision?: number): Promise<number | undefined>;
  /**
   * Does the same without waiting for a response, when a connection is about to end: the message has been sent when
   * this returns.
   */
  send(connection: NatsConnection, name: string, record: unknown, revision: number): void;
}

/** Returns the places of a stream. `replicas` is used if their stream has to be created. */
export function placeBucket(js: JetStreamClient, stream: string, replicas: () => Promise<number>): PlaceBucket {
  const name = `${stream}-places`;
  const create = async (): Promise<void> => {
    const { streams } = await js.jetstreamManager(false);
    if ((await undefinedIfMissing(streams.info(name))) !== undefined) return;
    const num_replicas = await replicas();
    await streams.add({ name, subjects: [`${name}.>`], max_msgs_per_subject: 1, num_replicas });
  };
  // set only on success, so that the creation is tried again after a failure
  let isCreated = false;
  const ensureCreated = async (): Promise<void> => {
    if (!isCreated) await create();
    isCreated = true;
  };
  return {
    get: async (place) => {
      const { streams } = await js.jetstreamManager(false);
      const message = await undefinedIfMissing(streams.getMessage(name, { last_by_subj: `${name}.${place}` }));
      return message ? { record: message.json<unknown>(), revision: message.seq } : undefined;
    },
    put: async (place, record, revision) => {
      await ensureCreated();
      const expect = revision === undefined ? {} : { lastSubjectSequence: revision };
      return js.publish(`${name}.${place}`, JSON.stringify(record), { expect }).then(
        ({ seq }) => seq,
        (error: unknown) => {
          if (isWrongSequence(error)) return undefined;
          throw error;
        },
      );
    },
    send: (connection, place, record, revision) => {
      connection.publish(`${name}.${place}`, JSON.stringify(record), { headers: expectRevision(revision) });
    },
  };
}

function expectRevision(revision: number): MsgHdrs {
  const fields = headers();
  fields.set('Nats-Expected-Last-Subject-Sequence', String(revision));
  return fields;
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
