import type { SynchronizerTime } from '../../codecs/SynchronizerTime.js';
import type { Update } from '../../codecs/Update.js';
import { synchronizersOf } from './synchronizersOf.js';

/** The record times that an update tells, by synchronizer. */
export function timesOf(update: Update): readonly SynchronizerTime[] {
  switch (update._tag) {
    case 'Transaction':
    case 'Reassignment':
    case 'TopologyTransaction':
      return synchronizersOf(update).map((synchronizerId) => ({ synchronizerId, recordTime: update.recordTime }));
    case 'OffsetCheckpoint':
      return update.synchronizerTimes;
    case 'UnknownUpdate':
      return [];
  }
}
