import type { BoundedRange } from '../bareRead.js';

/** Another client of the same interface: what to install for it, each in a directory of its own. */
export interface Peer {
  readonly id: string;
  readonly packages: readonly string[];
}

/** Reads one page; what a peer is measured by. */
export type ReadPage = (range: BoundedRange) => Promise<unknown>;
