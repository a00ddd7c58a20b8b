import { InjectionToken } from '@angular/core';

/** What whoever serves the explorer tells it, in `/explorer.json`. */
export interface Settings {
  /** The ledger that it opens with; without one it asks. */
  readonly baseUrl?: string;
  /** Whether that is a sandbox that can be controlled from here. */
  readonly sandbox?: boolean;
  /** How many updates a tab holds; default 150 000. */
  readonly capacity?: number;
}

export const SETTINGS = new InjectionToken<Settings>('SETTINGS');
