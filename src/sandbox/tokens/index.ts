/**
 * Tokens for a sandbox, by the interfaces of the Splice token standard V1: enough to develop and test a wallet. For Node.js.
 *
 * @example
 * ```ts
 * import { createSandbox } from 'canton-rx/sandbox';
 * import { tokenTemplates } from 'canton-rx/sandbox/tokens';
 *
 * createSandbox({ templates: tokenTemplates });
 * ```
 *
 * @module canton-rx/sandbox/tokens
 */

export { tokenTemplates } from './rules.js';
export { sandboxRegistry, type SandboxRegistry, type SandboxRegistryOptions } from './sandboxRegistry.js';
export { TokenAllocationRequest } from './allocations.js';
