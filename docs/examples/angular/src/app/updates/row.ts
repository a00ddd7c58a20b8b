import type { Update } from 'canton-rx';

/** The part of an update that the table shows. The panel of an update reads the rest from the ledger again. */
export interface Row {
  readonly offset: number;
  readonly variant: Variant;
  readonly updateId: string;
  readonly recordTime: string;
  readonly synchronizer: string;
  /** The effects of the update, with the number of equal ones. */
  readonly effects: readonly Effect[];
  /** `package-name:Module:Entity` of each template. */
  readonly templates: readonly string[];
  /** The names of their packages. */
  readonly packages: readonly string[];
  readonly parties: readonly string[];
  readonly contractIds: readonly string[];
  /** The text that the text filter searches, in lower case. */
  readonly text: string;
}

export type Variant = Exclude<Update['_tag'], 'OffsetCheckpoint'>;

export interface Effect {
  readonly kind: 'created' | 'archived' | 'exercised' | 'moved' | 'hosted' | 'other';
  readonly label: string;
  readonly count: number;
  /** The template, where it has one. */
  readonly template?: string | undefined;
}
