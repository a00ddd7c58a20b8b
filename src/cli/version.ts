import { readFileSync } from 'node:fs';

/** The version of this package, as its package.json has it: two folders up, from `src/cli` and from `dist/cli`. */
export function version(): string {
  const content: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const isPackage = typeof content === 'object' && content !== null && 'version' in content;
  return isPackage && typeof content.version === 'string' ? content.version : 'unknown';
}
