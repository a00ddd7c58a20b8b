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
