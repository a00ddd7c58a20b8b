import type { SandboxChanges } from './SandboxChanges.js';

/** What {@link Sandbox.restart} changes, and how long it takes. */
export interface RestartOptions extends SandboxChanges {
  /** For how many milliseconds nothing listens; default 0. */
  readonly downMs?: number;
}
