import type { JetStreamClient } from '@nats-io/jetstream';
import { orUndefined } from './orUndefined.js';

/**
 * Where a relay and its readers stand: one small record each, the latest only. In a stream of their own beside that of
 * the updates, whose limits must not remove them.
 */
export interface Places {
  /** The record of a name; `undefined` where there is none. */
  get(name: string): Promise<unknown>;
  /** Replaces it. */
  put(name: string, place: unknown): Promise<unknown>;
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
      return message?.json<unknown>();
    },
    put: async (place, record) => {
      await made();
      return js.publish(`${name}.${place}`, JSON.stringify(record));
    },
  };
}
