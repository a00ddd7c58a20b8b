import type { Update } from '../../codecs/Update.js';

/** The record time of an update, of a checkpoint that of the synchronizer that is farthest; empty where it has none. */
export function recordTimeOf(update: Update): string {
  if ('recordTime' in update) return update.recordTime;
  const times = 'synchronizerTimes' in update ? update.synchronizerTimes : [];
  return times.map(({ recordTime }) => recordTime).reduce((last, time) => (time > last ? time : last), '');
}
