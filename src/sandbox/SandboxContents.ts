/**
 * The options of `Sandbox.generate`.
 *
 * @category Sandbox
 */
export interface GenerateOptions {
  /**
   * The seed. The same seed on the same ledger generates the same traffic, at other times.
   *
   * @defaultValue 1
   */
  readonly seed?: number;
  /**
   * The kinds of update to generate.
   *
   * @defaultValue all
   */
  readonly variants?: readonly UpdateVariant[];
}

/**
 * The kinds of update that a ledger stores. Checkpoints are not stored: each stream gets its own.
 *
 * @category Sandbox
 */
export type UpdateVariant = 'Transaction' | 'Reassignment' | 'TopologyTransaction';

/**
 * What `Sandbox.uploadPackage` uploads.
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
   * The templates, each `Module:Entity`.
   *
   * @defaultValue none
   */
  readonly templates?: readonly string[];
  /**
   * The interfaces, each `Module:Entity`. A known interface that no contract has is no error: it selects nothing.
   *
   * @defaultValue none
   */
  readonly interfaces?: readonly string[];
}
