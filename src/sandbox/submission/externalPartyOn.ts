import type { ExternalParty } from '../ExternalParty.js';
import type { ExternalPartyOptions } from '../ExternalPartyOptions.js';
import type { HostedParty } from '../HostedParty.js';
import { createExternalParty } from './createExternalParty.js';
import type { HostedParties } from './HostedParties.js';
import { hostParty } from './hostParty.js';
import { signingKeyOf } from './signingKeyOf.js';

/** `Sandbox.externalParty`, for the parties of a participant. */
export function externalPartyOn(hosted: HostedParties) {
  function externalParty(hint: string): ExternalParty;
  function externalParty(hint: string, options: ExternalPartyOptions): HostedParty;
  function externalParty(hint: string, options?: ExternalPartyOptions): HostedParty {
    if (options === undefined) return createExternalParty(hint, hosted);
    const publicKeys = 'publicKey' in options ? [options.publicKey] : options.publicKeys;
    const threshold = 'publicKey' in options ? 1 : options.threshold;
    return hostParty(hint, publicKeys.map(signingKeyOf), threshold ?? publicKeys.length, hosted);
  }
  return externalParty;
}
