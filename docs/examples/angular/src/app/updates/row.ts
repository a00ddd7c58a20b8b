import type { Update } from 'canton-rx';

/** What the table shows of an update. The rest is read from the ledger again when somebody looks. */
export interface Row {
  readonly offset: number;
  readonly variant: Variant;
  readonly updateId: string;
  readonly recordTime: string;
  readonly synchronizer: string;
  /** What happened, the same things counted together. */
  readonly effects: readonly Effect[];
  readonly templates: readonly string[];
  readonly parties: readonly string[];
  readonly contractIds: readonly string[];
  /** What the text filter looks at, in lower case. */
  readonly text: string;
}

export type Variant = Exclude<Update['_tag'], 'OffsetCheckpoint'>;

export interface Effect {
  readonly kind: 'created' | 'archived' | 'exercised' | 'moved' | 'hosted' | 'other';
  readonly label: string;
  readonly count: number;
}
