import type { JetStreamClient } from '@nats-io/jetstream';
import { orUndefined } from './orUndefined.js';
import type { Places } from './Places.js';
import { placeOf, readerPlace } from './readerPlace.js';
import { RelayError } from './RelayError.js';

/** What a durable reads. */
export interface Target {
  readonly js: JetStreamClient;
  readonly places: Places;
  readonly stream: string;
  readonly durable: string;
}

/** The server leaves out a list that is empty. */
const deletedOf = ({ deleted = [] }: { readonly deleted?: readonly number[] }): readonly number[] => deleted;

/**
 * Errors if the stream no longer has a message that nobody has read, between the last one that this reader has and the
 * one that it gets; without the latter, at its beginning. Others that share the durable have read what is still there.
 */
export async function checkGap({ js, places, stream, durable }: Target, after: number, before?: number): Promise<void> {
  const { streams } = await js.jetstreamManager(false);
  const info = await orUndefined(streams.info(stream, { deleted_details: true }));
  if (info === undefined) throw new RelayError('stream', stream, 'it was deleted');
  const { first_seq, last_seq } = info.state;
  const next = before ?? Math.max(first_seq, 1);
  const removed = (known: number): number | undefined => {
    if (known + 1 < Math.min(first_seq, next)) return known + 1;
    return deletedOf(info.state).find((sequence) => sequence > known && sequence < next);
  };
  if (removed(after) === undefined) return;
  const read = Math.max(after, placeOf(await places.get(readerPlace(durable))) ?? 0);
  const from = removed(read);
  if (from === undefined) return;
  const which = `messages from ${from} on, before ${Math.min(next, last_seq + 1)}`;
  throw new RelayError('gap', stream, `${which}, were removed before ${durable} has read them`);
}
