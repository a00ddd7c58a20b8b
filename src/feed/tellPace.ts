import type { Feed } from './Feed.js';
import type { Step } from './Place.js';

/** Tells when a feed has caught up or fallen behind; to be called when what has led there is emitted. */
export const tellPace =
  ({ report }: Feed) =>
  ({ place: { cursor, target }, turn }: Step): void => {
    if (turn === 'CaughtUp') report(() => ({ _tag: turn, cursor }));
    if (turn === 'FellBehind') report(() => ({ _tag: turn, cursor, ...(target > cursor && { lag: target - cursor }) }));
  };
