import type { Participant } from '../participant/Participant.js';
import type { FaultQueue } from './FaultQueue.js';
import type { RequestRecord } from './RequestRecord.js';

/** What the HTTP side works with. */
export interface Service {
  readonly participant: Participant;
  readonly faults: FaultQueue;
  readonly log: RequestRecord[];
}
