import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';

/** Whether a feed goes on for ever. What is no request at all, the feed itself refuses. */
export function isEndless(request: UpdatesRequest): boolean {
  const { endInclusive }: Partial<UpdatesRequest> = { ...request };
  return typeof endInclusive !== 'number';
}
