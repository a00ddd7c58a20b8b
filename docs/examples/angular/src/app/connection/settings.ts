import { InjectionToken } from '@angular/core';

/** What whoever serves the explorer tells it, in `/explorer.json`. */
export interface Settings {
  /** The ledger that it opens with; without one it asks. */
  readonly baseUrl?: string;
  /** Whether that is a sandbox that can be controlled from here. */
  readonly sandbox?: boolean;
}

export const SETTINGS = new InjectionToken<Settings>('SETTINGS');
