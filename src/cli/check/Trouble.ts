import type { TroubleKind } from './Finding.js';

/** Why something cannot be found out or is not as it should be, and what to do about it. */
export interface Trouble {
  readonly kind: TroubleKind;
  readonly text: string;
  readonly next?: string;
}
