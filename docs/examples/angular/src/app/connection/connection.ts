import { InjectionToken } from '@angular/core';

/** A field of the form of connections. */
export type ConnectionField = 'address' | 'token' | 'parties';

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

/** The parties that are read, in a few words. */
export const partiesText = ({ parties }: Pick<Connection, 'parties'>): string => {
  if (parties === 'any') return 'any party';
  const [first = '', ...others] = parties.map((party) => party.split('::')[0] ?? party);
  return others.length > 1 ? `${first} and ${others.length} more` : [first, ...others].join(' and ');
};

/** The user of submissions and of the commands to read: without a token, a participant requires a name. */
export const userIdOf = ({ token }: Pick<Connection, 'token'>): string | undefined =>
  token === undefined ? 'explorer' : undefined;

export const CONNECTION = new InjectionToken<Connection>('CONNECTION');
