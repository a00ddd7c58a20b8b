/** What a process is told at its start. */
export interface Orders {
  readonly ledgerUrl: string;
  /** A database, a server, or a folder. */
  readonly storeUrl: string;
  /** Where a handler notes what it has handled. */
  readonly notes?: string | undefined;
  /** Its number: each start has another. */
  readonly life: number;
  /** Where to end; without it, when it is killed. */
  readonly end?: number | undefined;
  /** The last that there is, if it is there from the start: it is left to the one that is not killed. */
  readonly last?: number;
  readonly commitEvery: number;
}
