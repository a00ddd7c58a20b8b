import { InjectionToken } from '@angular/core';

/** Which ledger is explored, and what of it. */
export interface Connection {
  readonly baseUrl: string;
  /** Stays in memory: a reload asks for it again. */
  readonly token?: string;
  /** Whose updates are read; `'any'` needs the right to read as any party. */
  readonly parties: readonly string[] | 'any';
  /** Where to begin when nothing is known of this ledger yet. */
  readonly begin: 'start' | 'end';
  /** Whether it is the sandbox of this page's server. */
  readonly isSandbox: boolean;
}

export const CONNECTION = new InjectionToken<Connection>('CONNECTION');
