import type { Ledger } from '../ledger/Ledger.js';
import type { SandboxProfile } from '../SandboxProfile.js';

/** What is looked at, and in the words of which release. */
export interface View {
  readonly ledger: Ledger;
  readonly profile: SandboxProfile;
}
