import { refused } from '../errors/refused.js';
import type { Settings } from '../participant/Settings.js';

/** Refuses what 3.6 serves only to those who enable it. */
export function refuseDeprecated({ profile, deprecatedApis }: Settings, what: string): void {
  if (profile !== '3.6' || deprecatedApis) return;
  const cause = `${what} deprecated since Canton 3.4: disabled by default from 3.6 on, gone in 3.7.`;
  throw refused('DEPRECATED_API_DISABLED', cause);
}
