/**
 * Options of `Sandbox.generate`.
 *
 * @category Sandbox
 */
export interface GenerateOptions {
  /**
   * The seed. The same seed on the same ledger generates the same traffic, with different times.
   *
   * @defaultValue 1
   */
  readonly seed?: number;
  /**
   * The kinds of updates to generate.
   *
   * @defaultValue all
   */
  readonly variants?: readonly UpdateVariant[];
}

/**
 * The kinds of updates that a ledger stores. It does not store checkpoints; each stream gets its own.
 *
 * @category Sandbox
 */
export type UpdateVariant = 'Transaction' | 'Reassignment' | 'TopologyTransaction';
