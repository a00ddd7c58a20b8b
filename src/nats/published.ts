import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { Offset } from '../codecs/scalars.js';
import { type Update, UpdateElement } from '../codecs/Update.js';
import type { Work } from '../process/ProcessOptions.js';
import { undefinedIfMissing } from './RelayError.js';
import { idHeader, idOf, offsetIn, type RelayStream, type StreamEnd } from './relayStream.js';

/** Whether a stream has an update; `'removed'` if it had messages there once, which were removed. */
type Presence = 'published' | 'absent' | 'removed';

/**
 * Resolves to the first of some updates that a stream does not have, although it has got past their offsets; and to whether some of
 * them cannot be found, because messages were removed.
 *
 * An update that is received again is at an offset of the stream. At other offsets, as after a restore, or from before a
 * selection was changed, an update is new, although its offset is not.
 *
 * @param repeated - updates that are not after the end, in the order in which they were received
 */
export async function findUnpublished(
  jsm: JetStreamManager,
  target: Pick<RelayStream, 'stream' | 'subject'>,
  repeated: readonly Work[],
  end: StreamEnd,
): Promise<{ readonly update: Work | undefined; readonly isUncertain: boolean }> {
  let isUncertain = false;
  for (const update of edgesOf(repeated)) {
    const presence = await presenceOf(jsm, target, update, end);
    if (presence === 'absent') return { update, isUncertain };
    isUncertain ||= presence === 'removed';
  }
  return { update: undefined, isUncertain };
}

/**
 * Returns the first and the last update of each part in which the offsets ascend. If the stream has both, it has those between them.
 */
const edgesOf = (updates: readonly Work[]): readonly Work[] =>
  updates.filter(
    ({ offset }, index) =>
      offset <= (updates[index - 1]?.offset ?? Infinity) || offset >= (updates[index + 1]?.offset ?? 0),
  );

async function presenceOf(
  jsm: JetStreamManager,
  target: Pick<RelayStream, 'stream' | 'subject'>,
  update: Work,
  end: StreamEnd,
): Promise<Presence> {
  const isSame = (offset: Offset | undefined, id: string | undefined): boolean =>
    offset === update.offset && id === idOf(update);
  if (update.offset === end.offset) return isSame(end.offset, end.id ?? idOf(update)) ? 'published' : 'absent';
  const { message, isFirst } = await firstFrom(jsm, target, update.offset, end.sequence);
  if (isSame(offsetIn(message?.header), message?.header.get(idHeader))) return 'published';
  // nothing shows what was before the first message
  return isFirst && message?.seq !== 1 ? 'removed' : 'absent';
}

/** Resolves to the first message whose offset is not before another one, and whether the stream has none before that. */
async function firstFrom(
  { streams }: JetStreamManager,
  { stream, subject }: Pick<RelayStream, 'stream' | 'subject'>,
  offset: Offset,
  last: number,
): Promise<{ readonly message: StoredMsg | undefined; readonly isFirst: boolean }> {
  let message: StoredMsg | undefined;
  let isFirst = true;
  let [low, high] = [1, last];
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    // the next one that was not removed
    const query = { seq: middle, next_by_subj: subject };
    const found = (await undefinedIfMissing(streams.getMessage(stream, query))) ?? undefined;
    if (found !== undefined && (offsetIn(found.header) ?? 0) < offset) {
      isFirst = false;
      low = found.seq + 1;
    } else {
      message = found ?? message;
      high = middle - 1;
    }
  }
  return { message, isFirst };
}

/** The maximum number of messages that are read after a cursor: a save follows each batch, so there are few. */
const maxRead = 1_000;

/**
 * Resolves to the updates of the messages after an offset, up to the end of a stream; `undefined` if there are too many. Those
 * that were removed are left out.
 */
export async function readAfter(
  jsm: JetStreamManager,
  target: Pick<RelayStream, 'stream' | 'subject'>,
  offset: Offset,
  end: StreamEnd,
): Promise<readonly Update[] | undefined> {
  const { stream, subject } = target;
  const updates: Update[] = [];
  let { message } = await firstFrom(jsm, target, offset + 1, end.sequence);
  if (message !== undefined && end.sequence - message.seq >= maxRead) return undefined;
  while (message !== undefined && message.seq <= end.sequence) {
    const decoded = UpdateElement.decode(message.json<unknown>());
    if (decoded._tag === 'Right') updates.push(decoded.right);
    const query = { seq: message.seq + 1, next_by_subj: subject };
    message = (await undefinedIfMissing(jsm.streams.getMessage(stream, query))) ?? undefined;
  }
  return updates;
}
