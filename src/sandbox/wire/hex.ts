import { hash } from 'node:crypto';

/** SHA-256 in hex. All ids of the sandbox come from it: same ledger, same ids. */
export function hex(...parts: readonly (string | number)[]): string {
  return hash('sha256', parts.join('\n'));
}
