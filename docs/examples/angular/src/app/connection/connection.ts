import { InjectionToken } from '@angular/core';

/** A ledger, and the updates that are read from it. */
export interface Connection {
  readonly baseUrl: string;
  /** Kept in memory only, so it must be entered again after a reload. */
  readonly token?: string;
  /** The parties whose updates are read; `'any'` needs the right to read as any party. */
  readonly parties: readonly string[] | 'any';
  /** Where to start when no position of this ledger is stored. */
  readonly begin: 'start' | 'end';
  /** Whether it is the sandbox of the server of this page. */
  readonly isSandbox: boolean;
}

export const CONNECTION = new InjectionToken<Connection>('CONNECTION');
