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

/**
 * The entities that `Sandbox.uploadPackage` uploads.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * sandbox.uploadPackage('assets', { templates: ['Assets:Iou'], interfaces: ['Assets:Transferable'] });
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export interface PackageEntities {
  /**
   * The templates, in the form `Module:Entity`.
   *
   * @defaultValue none
   */
  readonly templates?: readonly string[];
  /**
   * The interfaces, in the form `Module:Entity`. A filter by a known interface that no contract implements selects
   * nothing.
   *
   * @defaultValue none
   */
  readonly interfaces?: readonly string[];
}
