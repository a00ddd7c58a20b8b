import type { Asked, Reply } from '../../helpers/scripted.js';
import { badnessOf } from './inflict.js';
import { stopping } from './statuses.js';

/** An error with which a feed must end. */
export interface ForcedEnd {
  readonly error: Readonly<Record<string, unknown>>;
  /** Whether it is a gap, beyond which a caller may choose to go on. */
  readonly isGap?: boolean;
}

const stops = new Set(Object.values(stopping).map((reply) => keyOf(reply())));

/** What a feed must end with when this answer comes to this request; `undefined` where it must not end. */
export function forcedEnd(asked: Asked, reply: Reply): ForcedEnd | undefined {
  if (reply instanceof Error) return undefined;
  const { status, text } = reply;
  const cursor = asked.body['beginExclusive'];
  const bad = badnessOf(reply);
  if (bad?.tag === 'OrderError') return { error: { _tag: 'OrderError' } };
  if (bad?.tag === 'DecodeError') return { error: { _tag: 'DecodeError', offset: bad.offset } };
  if (status === 400 && text.includes('PARTICIPANT_PRUNED_DATA_ACCESSED'))
    return {
      error: { _tag: 'PrunedError', earliestOffset: Number(/"earliest_offset":"(\d+)"/.exec(text)?.[1]) },
      isGap: true,
    };
  if (status === 413 && text.includes('MAXIMUM_LIST') && asked.query['limit'] === '1')
    return { error: { _tag: 'PageLimitError', cursor } };
  if (status === 404 && asked.path === '/v2/updates') return { error: { _tag: 'ApiError', status: 404 } };
  return stops.has(keyOf(reply)) ? { error: { _tag: 'ApiError', status } } : undefined;
}

function keyOf(reply: Reply): string {
  return reply instanceof Error ? '' : `${reply.status} ${reply.text}`;
}
