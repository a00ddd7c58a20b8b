import type { SynchronizerTime } from '../codecs/SynchronizerTime.js';
import type { Follower } from './Follower.js';
import type { Recorder } from './Recorder.js';

/** Notes how far synchronizers have come; a feed tells each one's times in their order. */
export function noteTimes(
  { recordTimes }: Follower,
  times: readonly SynchronizerTime[],
  { synchronizer }: Recorder,
): void {
  for (const { synchronizerId, recordTime } of times) recordTimes.set(synchronizer(synchronizerId), recordTime);
}
