import type { JetStreamClient } from '@nats-io/jetstream';
import { isWrongEnd } from './isWrongEnd.js';
import { orUndefined } from './orUndefined.js';

/**
 * Where a relay and its readers stand: one small record each, the latest only. In a stream of their own beside that of
 * the updates, whose limits must not remove them.
 */
export interface Places {
  /** The record of a name; `undefined` where there is none. */
  get(name: string): Promise<Noted | undefined>;
  /** Replaces it, and gives the revision of the new one; with the revision of the old one only that, else nothing is given. */
  put(name: string, record: unknown, revision?: number): Promise<number | undefined>;
}

/** A record as it was found. */
export interface Noted {
  readonly record: unknown;
  /** Ascends with each change. */
  readonly revision: number;
}

/** The records beside a stream; `replicas` is for those of a stream that has none yet. */
export function placesOf(js: JetStreamClient, stream: string, replicas: () => Promise<number>): Places {
  const name = `${stream}-places`;
  const make = async (): Promise<void> => {
    const { streams } = await js.jetstreamManager(false);
    if ((await orUndefined(streams.info(name))) !== undefined) return;
    const num_replicas = await replicas();
    await streams.add({ name, subjects: [`${name}.>`], max_msgs_per_subject: 1, num_replicas });
  };
  // a stream that is there stays; one that cannot be made is tried again
  let isMade = false;
  const made = async (): Promise<void> => {
    if (!isMade) await make();
    isMade = true;
  };
  return {
    get: async (place) => {
      const { streams } = await js.jetstreamManager(false);
      const message = await orUndefined(streams.getMessage(name, { last_by_subj: `${name}.${place}` }));
      return message ? { record: message.json<unknown>(), revision: message.seq } : undefined;
    },
    put: async (place, record, revision) => {
      await made();
      const expect = revision === undefined ? {} : { lastSubjectSequence: revision };
      return js.publish(`${name}.${place}`, JSON.stringify(record), { expect }).then(
        ({ seq }) => seq,
        (error: unknown) => {
          if (isWrongEnd(error)) return undefined;
          throw error;
        },
      );
    },
  };
}
