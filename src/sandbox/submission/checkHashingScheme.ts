import { refused } from '../errors/refused.js';
import type { SandboxProfile } from '../SandboxProfile.js';

/** Refuses a hashing scheme that the release does not support. */
export function checkHashingScheme(version: string, profile: SandboxProfile): void {
  const supported = version.endsWith('_V2') || (version.endsWith('_V3') && profile !== '3.4');
  if (!supported) throw refused('INVALID_ARGUMENT', `Unsupported hashing scheme version ${version}`);
}
