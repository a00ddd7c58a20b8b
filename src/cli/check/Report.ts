import type { Finding } from './Finding.js';

/** What is told of a ledger. No host, no token: people paste it into bug reports. */
export interface Report {
  readonly about: {
    readonly 'canton-rx': string;
    readonly node: string;
    readonly platform: string;
    readonly at: string;
  };
  readonly ledger: {
    readonly scheme: string;
    readonly port: number;
    readonly isThisMachine: boolean;
    readonly hasPathPrefix: boolean;
  };
  readonly exitCode: number;
  readonly findings: readonly Finding[];
}
