import type { FeedCall, FeedProgress } from '../client/Interceptor.js';
import type { TraceContext } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { timesOf } from '../operators/recordTimes.js';

/** What a feed emits, or a handler gets: an update, a completion, or a change of contracts. */
interface Emitted {
  readonly _tag: string;
  readonly offset: Offset;
  readonly updateId?: string | undefined;
  readonly traceContext?: TraceContext | undefined;
}

/** Returns what interceptors see of an update, a completion, or a change of contracts: nothing of its content. */
export const progressOf = (emitted: Emitted): FeedProgress => {
  const { _tag, offset, updateId, traceContext } = emitted;
  return { _tag, offset, updateId, traceContext, recordTimes: isUpdate(emitted) ? timesOf(emitted) : [] };
};

/** The variants of an update. A record, so that none is missing. */
const variants: Readonly<Record<Exclude<Update['_tag'], 'UnknownUpdate'>, true>> = {
  Transaction: true,
  Reassignment: true,
  TopologyTransaction: true,
  OffsetCheckpoint: true,
};

const isUpdate = (emitted: { readonly _tag: string }): emitted is Update => Object.hasOwn(variants, emitted._tag);

/** Returns what interceptors see of a request for updates, which may be invalid. */
export function updatesCall(request: unknown): FeedCall {
  const { beginExclusive, endInclusive, after } = { ...(request as object) } as Readonly<Record<string, unknown>>;
  const begin = after === undefined ? beginExclusive : { ...(after as object & { offset?: unknown }) }.offset;
  return {
    kind: 'updates',
    ...(typeof begin === 'number' && { beginExclusive: begin }),
    isEndless: typeof endInclusive !== 'number',
  };
}
