import type { UpdatesOptions } from '../../../src/index.js';
import type { Kind } from './elements.js';

/** What a variant is given to do. */
export interface Load {
  /** Where the ledger is, for those that read one. */
  readonly url: string;
  readonly kind: Kind;
  /** How many updates; pages, where pages are what is measured. */
  readonly count: number;
  readonly step: number;
  readonly options: UpdatesOptions & { readonly parallelRanges?: number };
  /** How long the consumer keeps the processor busy with each update. */
  readonly busyUs: number;
}

/** What came of it. */
export interface Outcome {
  /** Microseconds for each update; or whatever the line compares. */
  readonly cost: number;
  /** Further figures that a variant has found. */
  readonly figures?: Readonly<Record<string, number>>;
  /** When each update arrived, in milliseconds of the machine's clock. */
  readonly arrivedAt?: readonly number[];
}

/** One way to do it. */
export type Measure = (load: Load) => Promise<Outcome>;

/** The load of a variant that reads nothing in particular. */
export const plainLoad: Load = { url: '', kind: 'tx', count: 0, step: 1, options: {}, busyUs: 0 };
