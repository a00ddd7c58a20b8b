import { updateIdOf } from '../wire/updateIdOf.js';
import type { Scene } from './Scene.js';

/** What all generated updates have. Record times ascend with steps that need no, three or six digits. */
export function generateHeader({ seed, random, participant, offset }: Scene, synchronizerId: string) {
  const { recordTimes } = participant.ledger;
  const latest = recordTimes.latest(synchronizerId);
  const step = 1 + random.below(2_000_000);
  const grain = random.pick(1, 1000, 1_000_000);
  const rounded = step + grain - ((latest + step) % grain);
  const trace = `00-${updateIdOf(seed, offset).slice(4, 36)}-00f067aa0ba902b7-01`;
  return {
    updateId: updateIdOf(seed, offset),
    offset,
    synchronizerId,
    recordTime: recordTimes.next(synchronizerId, rounded),
    traceContext: random.chance(0.3) ? { traceparent: trace, tracestate: null } : null,
  };
}
