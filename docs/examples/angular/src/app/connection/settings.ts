import { InjectionToken } from '@angular/core';

/** The settings from the server, in `/explorer.json`. */
export interface Settings {
  /** The ledger to open; without it, the connection form is shown. */
  readonly baseUrl?: string;
  /** Whether it is a sandbox with controls. */
  readonly sandbox?: boolean;
  /** The most updates that a tab holds; default 150 000. */
  readonly capacity?: number;
}

export const SETTINGS = new InjectionToken<Settings>('SETTINGS');
