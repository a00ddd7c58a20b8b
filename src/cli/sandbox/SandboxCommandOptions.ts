import type { SandboxProfile } from '../../sandbox/index.js';

/** How to run the sandbox. */
export interface SandboxCommandOptions {
  readonly port: number;
  readonly profile: SandboxProfile;
  /** How many updates to begin with. */
  readonly updates: number;
  /** How many to generate per second. */
  readonly rate: number;
  readonly seed: number;
  readonly cors: boolean;
}
