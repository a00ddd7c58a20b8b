import { refused } from '../errors/refused.js';
import type { SandboxProfile } from '../SandboxProfile.js';

/** Refuses a hashing scheme that the release or its synchronizers do not support: V3 needs a newer protocol version. */
export function checkHashingScheme(version: string, profile: SandboxProfile, code: string): void {
  if (version.endsWith('_V2')) return;
  const known = version.endsWith('_V3') && profile !== '3.4';
  if (!known) throw refused('INVALID_ARGUMENT', `Unsupported hashing scheme version ${version}`);
  throw refused(code, `The protocol version of the synchronizer does not support ${version}`);
}
