import type { JetStreamClient } from '@nats-io/jetstream';
import { Cursor } from '../process/Cursor.js';
import type { End, RelayPlace } from './End.js';
import { idHeader } from './messageOf.js';
import { RelayError } from './RelayError.js';
import type { RelayStream } from './relayStream.js';

/**
 * The cursor of a place; moved back to the stream's last update where the stream has lost its newest messages since, as one
 * without replicas may when the power fails.
 */
export async function movedBack(
  js: JetStreamClient,
  { stream, subject }: RelayStream,
  place: RelayPlace,
  end: End,
): Promise<unknown> {
  const cursor = Cursor.decode(place.cursor);
  const isWhole = end.sequence >= place.end.sequence;
  if (isWhole || cursor._tag === 'Left' || cursor.right.offset <= end.offset) return place.cursor;
  const { streams } = await js.jetstreamManager(false);
  const last = await streams.getMessage(stream, { last_by_subj: subject });
  if (last === null) throw new RelayError('stream', stream, 'it has lost messages that it had');
  const updateId = last.header.get(idHeader);
  // an update of an unknown variant has no id by which the ledger would be known again
  const lastUpdate = updateId.startsWith('offset-') ? undefined : { offset: end.offset, updateId };
  return Cursor.encode({ ...cursor.right, offset: end.offset, lastUpdate });
}
