import type { Participant } from '../participant/Participant.js';
import type { Random } from './Random.js';
import type { TrafficState } from './TrafficState.js';

/** What generated traffic plays in. */
export interface Scene {
  readonly seed: number;
  readonly random: Random;
  readonly participant: Participant;
  readonly state: TrafficState;
  /** The offset of the update to make. */
  readonly offset: number;
}
