import type { UpdateVariant } from './UpdateVariant.js';

/** What {@link Sandbox.generate} makes. */
export interface GenerateOptions {
  /** Same seed, same ledger before it: same traffic. Default 1. */
  readonly seed?: number;
  /** The kinds of update to mix; default all. */
  readonly variants?: readonly UpdateVariant[];
}
