import type { PageReceived } from '../events/FeedHappening.js';
import type { Page } from './Page.js';

/** What to tell of a page. */
export function received({ count, updates, tookMs }: Page, path: string): PageReceived {
  const first = updates[0]?.offset;
  const last = updates.at(-1)?.offset;
  return {
    _tag: 'PageReceived',
    path,
    count,
    ...(first !== undefined && { first }),
    ...(last !== undefined && { last }),
    durationMs: tookMs,
  };
}
