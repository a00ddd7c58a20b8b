import type { Feed } from './Feed.js';
import { leavesSocketsAlone } from './leavesSocketsAlone.js';
import type { Place } from './Place.js';

/** Whether what comes next is to be pushed: by a feed that has caught up and has no end, and not after a socket failed. */
export const canListen = ({ transport, request, service }: Feed, { hasCaughtUp }: Place): boolean =>
  transport === 'websocket' &&
  hasCaughtUp &&
  typeof request.endInclusive !== 'number' &&
  !leavesSocketsAlone(service.learned);
